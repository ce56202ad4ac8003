import type { ApiDocument, ApiOperation } from '../../src/http/api-document.ts'

/** An operation and where the reference shows it. */
export interface Entry {
  anchor: string
  href: string
  method: string
  path: string
  title: string
  operation: ApiOperation
}

/** The operations of an engine, by what they are about. */
export interface Chapter {
  name: string
  title: string
  description: string
  href: string
  groups: { title: string; entries: Entry[] }[]
}

/** Every operation of the document, in its order. */
export const chaptersOf = ({ tags, paths }: ApiDocument, base: string): Chapter[] =>
  tags.map(({ name, description, 'x-displayName': title }) => {
    const href = `${base}/reference/${name}`
    const entries = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, operation]) => operation.tags?.includes(name))
        .map(([method, operation]) => entryOf(href, method, path, operation)),
    )
    const groups = [...Map.groupBy(entries, ({ path }) => groupOf(path))]
    return {
      name,
      title,
      description,
      href,
      groups: groups.map(([title, entries]) => ({ title, entries })),
    }
  })

function entryOf(page: string, method: string, path: string, operation: ApiOperation): Entry {
  const anchor = `${method}${path}`.replaceAll(/[^a-z0-9]+/gi, '-').replace(/-$/, '')
  const title = operation.summary ?? path
  return { anchor, href: `${page}#${anchor}`, method, path, title, operation }
}

/** Titles of groups that their path doesn't have the word for. */
const GROUPS: readonly [prefix: string, title: string][] = [
  ['/dashboard/', 'With a console session'],
  ['/v1/gate/auth/', 'Sign-in flows'],
  ['/auth/', 'Sign-in flows'],
  ['/v1/gate/settings/webhooks', 'Webhooks for user events'],
  ['/v1/gate/authorize', 'Authorization'],
  ['/access/', 'Authorization'],
  ['/public/', 'Public'],
  ['/v1/clockwork/jobs', 'Cron jobs'],
  ['/v1/clockwork/delayed', 'Delayed jobs'],
  ['/v1/passepartout/login', 'Sign-ins'],
]

/** From `/v1/relay/event-types/{name}`: "Event types". */
function groupOf(path: string): string {
  const known = GROUPS.find(([prefix]) => path.startsWith(prefix))
  if (known) return known[1]
  const noun = path.startsWith('/v1/') ? (path.split('/')[3] ?? '') : 'Server'
  return (noun.charAt(0).toUpperCase() + noun.slice(1)).replaceAll('-', ' ')
}

/** Operations with all words of a search in their title, address, description or scopes. */
export function entriesWith(chapters: readonly Chapter[], search: string): Entry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return chapters
    .flatMap(({ groups }) => groups.flatMap(({ entries }) => entries))
    .filter(({ method, path, title, operation: { description = '', security } }) => {
      const text = `${method} ${path} ${title} ${description} ${JSON.stringify(security)}`
      return words.every((word) => text.toLowerCase().includes(word))
    })
}
