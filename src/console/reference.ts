import { htmlPage, htmlText } from '../../views/html.ts'
import { ChapterPage, ReferencePage, SearchPage } from '../../views/reference/pages.tsx'
import type { ApiDocument } from '../http/api-document.ts'
import { PAGE_CONTENT_POLICY } from '../http/security-headers.ts'
import { CHECKED, createStaticContent, type StaticContent } from '../http/static-content.ts'
import { notFound } from '../platform/errors.ts'

const HTML = 'text/html; charset=utf-8'

/** Answers with a page of the API reference. Each is rendered once. */
export function createReference(document: ApiDocument, base: string) {
  const shared = { base, document }
  const first = createStaticContent(HTML, () => htmlText(ReferencePage(shared)))
  const chapters = new Map<string, StaticContent>()

  function contentOf(name: string): StaticContent {
    const known = chapters.get(name)
    if (known) return known
    const page = ChapterPage({ ...shared, name })
    if (!page) throw notFound('page not found')
    const content = createStaticContent(HTML, () => htmlText(page))
    chapters.set(name, content)
    return content
  }

  return (request: Request, { chapter, search = '' }: { chapter?: string; search?: string }) => {
    if (search.trim() !== '')
      return htmlPage(SearchPage({ ...shared, search }), PAGE_CONTENT_POLICY)
    const page = chapter === undefined ? first : contentOf(chapter)
    return page(request, { ...CHECKED, 'content-security-policy': PAGE_CONTENT_POLICY })
  }
}
