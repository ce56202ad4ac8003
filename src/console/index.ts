import { Elysia } from 'elysia'
import { ASSETS, type Asset, versionOf } from '../../views/assets.ts'
import { htmlText } from '../../views/html.ts'
import { ReferencePage } from '../../views/reference.tsx'
import type { ApiDocument } from '../http/openapi.ts'
import { PAGE_CONTENT_POLICY } from '../http/security-headers.ts'
import { createStaticContent } from '../http/static-content.ts'
import { notFound } from '../platform/errors.ts'

/** For an address that changes with its content. */
const FOREVER = { 'cache-control': 'public, max-age=31536000, immutable' }
/** For all other addresses: browsers keep the content, but ask whether it has changed. */
const CHECKED = { 'cache-control': 'no-cache' }

/** API reference, OpenAPI document and assets. */
export function createConsole({
  document,
  base,
}: {
  document: () => ApiDocument
  base: () => string
}) {
  const openApi = createStaticContent('application/json', () => JSON.stringify(document()))
  const reference = createStaticContent('text/html; charset=utf-8', () =>
    htmlText(ReferencePage({ document: document() })),
  )

  return new Elysia({ name: 'console' })
    .get('/', ({ redirect }) => redirect(`${base()}/console`), { detail: { hide: true } })
    .get('/openapi.json', ({ request }) => openApi(request, CHECKED), {
      detail: { summary: 'Get the OpenAPI document', tags: ['operations'] },
    })
    .get(
      '/reference',
      ({ request }) =>
        reference(request, { ...CHECKED, 'content-security-policy': PAGE_CONTENT_POLICY }),
      { detail: { hide: true } },
    )
    .get(
      '/assets/:file',
      ({ params: { file }, query, request }) => {
        const asset = assets.get(file)
        if (!asset) throw notFound('file not found')
        return asset(request, query.v === versionOf(file) ? FOREVER : CHECKED)
      },
      { detail: { hide: true } },
    )
}

const assets = new Map(
  Object.entries(ASSETS).map(([name, { type, content }]: [string, Asset]) => [
    name,
    createStaticContent(type, () => content),
  ]),
)
