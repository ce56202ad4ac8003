import { Elysia, t } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { preferredLanguage } from '../../../http/language.ts'
import { lenient } from '../../../http/schemas.ts'
import { LANGUAGES, type Language } from '../language.ts'
import type { Sandbox } from '../sandbox/index.ts'
import type { Pages } from '../sandbox/pages.ts'

/** The chat with the test bot. Anyone with the link may act, because its payload is the secret. */
export const sandboxRoutes = (parts: { sandbox: Sandbox; pages: Pages; access: Access }) => {
  const { sandbox, pages, access } = parts

  return new Elysia({ prefix: '/sandbox/passepartout', detail: { hide: true } })
    .use(access)
    .get('/:payload', ({ params, request }) =>
      pages.sandbox(sandbox.show(params.payload, languageFor(request))),
    )
    .post(
      '/:payload',
      async ({ params, body, request }) => {
        const page = await sandbox.answer(params.payload, body, languageFor(request))
        return page ? pages.sandbox(page) : back(params.payload)
      },
      {
        form: {},
        body: lenient({ choice: t.Optional(t.Unknown()), person: t.Optional(t.Unknown()) }),
      },
    )
}

const languageFor = ({ headers }: Request): Language =>
  preferredLanguage(headers.get('accept-language'), LANGUAGES) ?? 'en'

/** A relative URL, which is correct regardless of the server's public URL. */
const back = (payload: string) =>
  new Response(null, { status: 303, headers: { location: encodeURIComponent(payload) } })
