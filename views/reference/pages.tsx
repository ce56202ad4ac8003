import type { ComponentChildren } from 'preact'
import type { ApiDocument } from '../../src/http/api-document.ts'
import { CodeBlock } from '../ui/code.tsx'
import { type Chapter, chaptersOf, entriesWith } from './entries.ts'
import { ReferenceLayout } from './layout.tsx'
import { Operation } from './operation.tsx'
import { Method, Prose } from './prose.tsx'

interface Reference {
  base: string
  document: ApiDocument
}

/** First page: what all operations have in common, and the way to each. */
export const ReferencePage = ({ base, document }: Reference) => {
  const chapters = chaptersOf(document, base)
  return (
    <ReferenceLayout base={base} title="API reference" document={document} chapters={chapters}>
      <h1>API reference</h1>
      <Introduction server={document.servers[0]?.url ?? ''} />
      <ul class="chapters">
        {chapters.map((chapter) => (
          <ChapterCard {...chapter} />
        ))}
      </ul>
    </ReferenceLayout>
  )
}

const Introduction = ({ server }: { server: string }) => (
  <div class="introduction">
    <Topic title="Base URL">
      <p>
        Send requests to <code>{server}</code>. Bodies and responses are JSON.
      </p>
    </Topic>
    <Topic title="Authentication">
      <p>Authenticate with an API key. Each operation names the scope that the key needs.</p>
      <CodeBlock title="Header">Authorization: Bearer $GATEHOUSE_KEY</CodeBlock>
    </Topic>
    <Topic title="Errors">
      <p>
        A response with status 4xx or 5xx has an <code>error</code> that names the field and the
        rule. Retry after 429 and 503, once the seconds in <code>Retry-After</code> have passed.
        Every response includes <code>X-Request-Id</code>.
      </p>
    </Topic>
    <Topic title="Lists">
      <p>
        Long lists come in pages: pass <code>next_cursor</code> as <code>cursor</code> until{' '}
        <code>has_more</code> is false. To poll a list, send its <code>ETag</code> as{' '}
        <code>If-None-Match</code>.
      </p>
    </Topic>
  </div>
)

const Topic = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section>
    <h2>{title}</h2>
    {children}
  </section>
)

const ChapterCard = ({ title, name, description, href, groups }: Chapter) => (
  <li>
    <h2>
      <a href={href}>{title}</a>
    </h2>
    <p>{description}</p>
    <p class="hint">
      {name !== 'operations' && <code>/v1/{name}</code>}{' '}
      {groups.reduce((sum, { entries }) => sum + entries.length, 0)} operations
    </p>
  </li>
)

/** Page of one engine, or null if there is none of this name. */
export const ChapterPage = ({ base, document, name }: Reference & { name: string }) => {
  const chapters = chaptersOf(document, base)
  const chapter = chapters.find((one) => one.name === name)
  if (!chapter) return null
  return (
    <ReferenceLayout
      base={base}
      title={`${chapter.title} API`}
      document={document}
      chapters={chapters}
      current={name}
    >
      <h1>{chapter.title}</h1>
      <p class="lead">
        <Prose text={chapter.description} />
      </p>
      {chapter.groups.map(({ title, entries }, at) => (
        <section aria-labelledby={`group-${at}`}>
          <h2 id={`group-${at}`}>{title}</h2>
          {entries.map((entry) => (
            <Operation server={document.servers[0]?.url ?? ''} {...entry} />
          ))}
        </section>
      ))}
    </ReferenceLayout>
  )
}

/** Operations that match a search, for browsers without scripts. */
export const SearchPage = ({ base, document, search }: Reference & { search: string }) => {
  const chapters = chaptersOf(document, base)
  const found = entriesWith(chapters, search)
  return (
    <ReferenceLayout
      base={base}
      title="Search"
      document={document}
      chapters={chapters}
      search={search}
    >
      <h1>{found.length === 0 ? 'No operations found' : `${found.length} found`}</h1>
      {found.length === 0 && (
        <p class="lead">Search for a path, a scope, or words such as "rotate secret".</p>
      )}
      <ul class="found">
        {found.map(({ href, method, path, title }) => (
          <li>
            <a href={href}>{title}</a>
            <p class="endpoint">
              <Method name={method} /> <code>{path}</code>
            </p>
          </li>
        ))}
      </ul>
    </ReferenceLayout>
  )
}
