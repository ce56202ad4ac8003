import { Elysia, t } from 'elysia'
import { ASSETS, type Asset, versionOf } from '../../views/assets.ts'
import { htmlPage, htmlText } from '../../views/html.ts'
import { ChapterPage, ReferencePage, SearchPage } from '../../views/reference/pages.tsx'
import type { ApiDocument } from '../http/api-document.ts'
import { PAGE_CONTENT_POLICY } from '../http/security-headers.ts'
import { createStaticContent, type StaticContent } from '../http/static-content.ts'
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
  const reference = createReference(document, base)

  return new Elysia({ name: 'console' })
    .get('/', ({ redirect }) => redirect(`${base()}/console`), { detail: { hide: true } })
    .get('/openapi.json', ({ request }) => openApi(request, CHECKED), {
      detail: {
        summary: 'Get the OpenAPI document',
        tags: ['operations'],
        responses: { 200: { description: 'OpenAPI 3.1, as JSON.' } },
      },
    })
    .get('/reference', ({ request, query: { q } }) => reference(request, { search: q ?? '' }), {
      query: t.Object({ q: t.Optional(t.String()) }, { additionalProperties: true }),
      detail: { hide: true },
    })
    .get(
      '/reference/:chapter',
      ({ request, params: { chapter } }) => reference(request, { chapter }),
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

const HTML = 'text/html; charset=utf-8'

/** Answers with a page of the API reference. Each is rendered once. */
function createReference(document: () => ApiDocument, base: () => string) {
  const shared = () => ({ base: base(), document: document() })
  const first = createStaticContent(HTML, () => htmlText(ReferencePage(shared())))
  const chapters = new Map<string, StaticContent>()

  function contentOf(name: string): StaticContent {
    const known = chapters.get(name)
    if (known) return known
    const page = ChapterPage({ ...shared(), name })
    if (!page) throw notFound('page not found')
    const content = createStaticContent(HTML, () => htmlText(page))
    chapters.set(name, content)
    return content
  }

  return (request: Request, { chapter, search = '' }: { chapter?: string; search?: string }) => {
    if (search.trim() !== '')
      return htmlPage(SearchPage({ ...shared(), search }), PAGE_CONTENT_POLICY)
    const page = chapter === undefined ? first : contentOf(chapter)
    return page(request, { ...CHECKED, 'content-security-policy': PAGE_CONTENT_POLICY })
  }
}

const assets = new Map(
  Object.entries(ASSETS).map(([name, { type, content }]: [string, Asset]) => [
    name,
    createStaticContent(type, () => content),
  ]),
)
