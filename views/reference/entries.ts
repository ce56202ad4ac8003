import type { ApiDocument, ApiOperation } from '../../src/http/api-document.ts'

/** An operation and where the reference shows it. */
export interface Entry {
  anchor: string
  href: string
  method: string
  path: string
  title: string
  operation: ApiOperation
  /** The same operation with the session of an operator in place of a key. */
  alias: { anchor: string; path: string; cookie: string } | undefined
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
export const chaptersOf = (document: ApiDocument, base: string): Chapter[] =>
  document.tags.map(({ name, description, 'x-displayName': title }) => {
    const href = `${base}/reference/${name}`
    const groups = Map.groupBy(entriesOf(document, name, href), ({ path }) => groupOf(path))
    return {
      name,
      title,
      description,
      href,
      groups: [...groups].map(([title, entries]) => ({ title, entries })),
    }
  })

const entriesOf = (document: ApiDocument, tag: string, page: string): Entry[] =>
  Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method, { tags }]) => tags?.includes(tag) && !twinOf(document, method, path, API))
      .map(([method, operation]) => {
        const anchor = anchorOf(method, path)
        const title = operation.summary ?? path
        const alias = aliasOf(document, method, path)
        return { anchor, href: `${page}#${anchor}`, method, path, title, operation, alias }
      }),
  )

/** Prefixes of operations that exist for keys and for sessions alike. */
const API = '/v1/'
const SESSIONS = '/dashboard/'

/** The path with the other prefix, if it has the same operation. */
function twinOf({ paths }: ApiDocument, method: string, path: string, prefix: string) {
  const twin = path.replace(prefix === API ? SESSIONS : API, prefix)
  return twin !== path && paths[twin]?.[method] ? twin : undefined
}

function aliasOf(document: ApiDocument, method: string, path: string): Entry['alias'] {
  const twin = twinOf(document, method, path, SESSIONS)
  const cookie = document.components.securitySchemes?.session?.name
  return twin && cookie ? { anchor: anchorOf(method, twin), path: twin, cookie } : undefined
}

const anchorOf = (method: string, path: string): string =>
  `${method}${path}`.replaceAll(/[^a-z0-9]+/gi, '-').replace(/-$/, '')

/** Titles of groups that their path doesn't have the word for. */
const GROUPS: readonly [prefix: string, title: string][] = [
  ['/v1/gate/auth/', 'Sign-in flows'],
  ['/auth/', 'Sign-in flows'],
  ['/v1/gate/settings/webhooks', 'Webhooks for user events'],
  ['/v1/gate/authorize', 'Authorization'],
  ['/access/', 'Authorization'],
  ['/public/', 'Public'],
  ['/v1/clockwork/jobs', 'Cron jobs'],
  ['/v1/clockwork/delayed', 'Delayed jobs'],
  ['/v1/passepartout/login', 'Sign-ins'],
  ['/v1/manifest', 'Manifest'],
]

/** From `/v1/relay/event-types/{name}`: "Event types". */
function groupOf(path: string): string {
  const known = GROUPS.find(([prefix]) => path.startsWith(prefix))
  if (known) return known[1]
  const noun = path.startsWith('/v1/') ? (path.split('/')[3] ?? '') : 'Server'
  return (noun.charAt(0).toUpperCase() + noun.slice(1)).replaceAll('-', ' ')
}
