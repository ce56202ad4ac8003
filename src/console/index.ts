import { Elysia, t } from 'elysia'
import { ASSETS, type Asset, versionOf } from '../../views/assets.ts'
import { late } from '../db/statements.ts'
import type { ApiDocument } from '../http/api-document.ts'
import { CHECKED, createStaticContent } from '../http/static-content.ts'
import { notFound } from '../platform/errors.ts'

/** For an address that changes with its content. */
const FOREVER = { 'cache-control': 'public, max-age=31536000, immutable' }

/** API reference and OpenAPI document, which are loaded when first asked for, and assets. */
export function createConsole({
  document,
  base,
}: {
  document: () => Promise<ApiDocument>
  base: () => string
}) {
  const openApi = createStaticContent('application/json', async () =>
    JSON.stringify(await document()),
  )
  const reference = late(async () => {
    const { createReference } = await import('./reference.ts')
    return createReference(await document(), base())
  })

  return new Elysia({ name: 'console' })
    .get('/', ({ redirect }) => redirect(`${base()}/console`), { detail: { hide: true } })
    .get('/openapi.json', ({ request }) => openApi(request, CHECKED), {
      detail: {
        summary: 'Get the OpenAPI document',
        tags: ['operations'],
        responses: { 200: { description: 'OpenAPI 3.1, as JSON.' } },
      },
    })
    .get(
      '/reference',
      async ({ request, query: { q } }) => (await reference())(request, { search: q ?? '' }),
      {
        query: t.Object({ q: t.Optional(t.String()) }, { additionalProperties: true }),
        detail: { hide: true },
      },
    )
    .get(
      '/reference/:chapter',
      async ({ request, params: { chapter } }) => (await reference())(request, { chapter }),
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
  Object.entries(ASSETS).map(([name, asset]: [string, Asset]) => [
    name,
    createStaticContent(asset.type, () => asset.content),
  ]),
)
