import type { ApiDocument } from '../../src/http/api-document.ts'
import { type Chapter, chaptersOf } from './entries.ts'
import { Introduction } from './introduction.tsx'
import { ReferenceLayout } from './layout.tsx'
import { Operation } from './operation.tsx'
import { Method, Path, Prose } from './prose.tsx'
import { createShownAt } from './repeated-objects.ts'
import { type Match, matchesOf } from './search.ts'

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
      <Introduction {...document} />
      <ul class="chapters">
        {chapters.map((chapter) => (
          <ChapterCard {...chapter} />
        ))}
      </ul>
    </ReferenceLayout>
  )
}

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
  const shownAt = createShownAt(chapter.groups.flatMap(({ entries }) => entries))
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
            <Operation entry={entry} server={document.servers[0]?.url ?? ''} shownAt={shownAt} />
          ))}
        </section>
      ))}
    </ReferenceLayout>
  )
}

/** Operations that match a search. With scripts, the contents show them. */
export const SearchPage = ({ base, document, search }: Reference & { search: string }) => {
  const chapters = chaptersOf(document, base)
  const matches = matchesOf(chapters, search)
  return (
    <ReferenceLayout
      base={base}
      title="Search"
      document={document}
      chapters={chapters}
      search={search}
    >
      <h1>{countOf(matches)}</h1>
      {matches.length === 0 && (
        <p class="lead">
          Search for a path, a method, a scope, a field, an error, or words such as "rotate secret".
        </p>
      )}
      <ul class="found">
        {matches.map((match) => (
          <Found {...match} />
        ))}
      </ul>
    </ReferenceLayout>
  )
}

const countOf = ({ length }: readonly Match[]): string =>
  ['No operations found', '1 operation found'][length] ?? `${length} operations found`

/** More fields would only repeat how large the operation is. */
const MAX_FIELDS = 3

const Found = ({ entry: { href, title, method, path }, fields }: Match) => (
  <li>
    <a href={href}>{title}</a>
    <p class="endpoint">
      <Method name={method} /> <Path path={path} />
    </p>
    {fields.length > 0 && (
      <p class="hint">
        <Prose
          text={fields
            .slice(0, MAX_FIELDS)
            .map((name) => `\`${name}\``)
            .join(', ')}
        />
      </p>
    )}
  </li>
)
