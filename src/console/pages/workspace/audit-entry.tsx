import type { VNode } from 'preact'
import { CodeBlock } from '../../../../views/ui/code.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import type { Column } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import { shownEntry } from '../../../platform/audit/formats.ts'
import { INSTALLATION_SOURCE, type LoggedEntry } from '../../../platform/audit/index.ts'
import { usePage } from '../../page.tsx'

/** What the columns show besides the entry. */
export interface EntryContext {
  /** Names of operators by ID. */
  names: ReadonlyMap<string, string>
  /** IDs of endpoints that are user webhooks: the log uses one kind for both. */
  webhooks: ReadonlySet<string>
}

/** Columns of the audit log. Targets and actors link to their pages. */
export const columns = (page: EntryContext): Column<LoggedEntry>[] => [
  { label: 'Event', isMono: true, cell: ({ action }) => <Text text={action} limit={48} /> },
  { label: 'Target', cell: (entry) => <Target {...page} entry={entry} /> },
  { label: 'Actor', cell: (entry) => <ActorName {...page} entry={entry} /> },
  {
    label: 'IP address',
    cell: ({ actor }) =>
      actor.source === undefined ? '–' : <Text text={actor.source} limit={48} />,
  },
  { label: 'Details', narrow: 'bare', cell: (entry) => <EntryDetails entry={entry} /> },
  {
    label: 'Time',
    align: 'right',
    narrow: 'corner',
    sort: 'time',
    cell: ({ at }) => <Time at={at} />,
  },
]

/** Splits `passepartout:bot:0192…` into kind and ID. IDs that tenants choose may contain colons. */
const OBJECT = /^((?:passepartout:)?\w+):(.+)$/s

/** Kinds of targets whose names differ from the API. */
const KINDS: Readonly<Record<string, string>> = {
  identity: 'user',
  key: 'API key',
  'passepartout:user': 'messenger user',
}

function Target({ entry, webhooks }: EntryContext & { entry: LoggedEntry }) {
  const hrefOf = useObjectHref(webhooks)
  const [, kind = '', id] = OBJECT.exec(entry.object) ?? []
  if (id === undefined) return <Text text={entry.object} limit={48} />
  const href = entry.action.endsWith('.deleted') ? undefined : hrefOf(kind, id)
  return (
    <>
      {KINDS[kind] ?? kind.replace('passepartout:', '').replaceAll('_', ' ')}{' '}
      <Name id={id} what={`${kind} ID`} href={href} />
    </>
  )
}

const WORDS: Record<LoggedEntry['actor']['kind'], string> = {
  cli: 'command line',
  key: 'API key',
  operator: 'operator',
  person: 'user',
  system: 'Gatehouse',
}

function ActorName({ entry, ...page }: EntryContext & { entry: LoggedEntry }) {
  const hrefOf = useObjectHref(page.webhooks)
  const { kind, id, source } = entry.actor
  if (id === undefined) return <>{capitalized(WORDS[kind])}</>
  const isOfTenant = source !== INSTALLATION_SOURCE
  const href = isOfTenant ? hrefOf(kind === 'person' ? 'identity' : kind, id) : undefined
  const name = page.names.get(id)
  if (name !== undefined)
    return (
      <Linked href={href}>
        <Text text={name} limit={40} />
      </Linked>
    )
  return (
    <>
      {WORDS[kind]} <Name id={id} what={`${kind} ID`} href={href} />
    </>
  )
}

/** The actor of an entry, for a sentence. */
export const nameOf = ({ actor }: LoggedEntry, names: ReadonlyMap<string, string>) => {
  const name = actor.id === undefined ? undefined : names.get(actor.id)
  if (name !== undefined) return <Text text={name} limit={40} />
  return actor.id === undefined
    ? WORDS[actor.kind]
    : `${actor.kind === 'person' ? 'a' : 'an'} ${WORDS[actor.kind]}`
}

/** IDs of Gatehouse are shortened in the middle, IDs that tenants choose at the end. */
const OWN_ID = /^[\w-]{1,64}$/

const Name = ({ id, what, href }: { id: string; what: string; href: string | undefined }) =>
  OWN_ID.test(id) ? (
    <Id id={id} what={what} href={href} />
  ) : (
    <Linked href={href}>
      <Text text={id} limit={48} />
    </Linked>
  )

const Linked = ({ href, children }: { href: string | undefined; children: VNode }) =>
  href === undefined ? children : <a href={href}>{children}</a>

/** Page of an object, by kind. */
const PATHS: Readonly<Record<string, string>> = {
  identity: '/identities/',
  job: '/jobs/',
  delayed_job: '/delayed/',
  endpoint: '/endpoints/',
  message: '/messages/',
  delivery: '/deliveries/',
  'passepartout:login': '/logins/',
  'passepartout:user': '/logins/users/',
}

/** Page of kinds that have no page per object. */
const SHARED: Readonly<Record<string, string>> = {
  operator: '/team',
  invitation: '/team',
  tenant: '/settings',
  'passepartout:bot': '/bots',
}

/** Longer IDs have no page. */
const MAX_ID_LENGTH = 256

/** Addresses of objects, for those that have a page. */
function useObjectHref(webhooks: EntryContext['webhooks']) {
  const { href, may } = usePage()
  return (kind: string, id: string): string | undefined => {
    if (id.length > MAX_ID_LENGTH || !id.isWellFormed()) return undefined
    if (kind === 'key') return may('keys') ? href(`/keys/${id}`) : undefined
    if (kind === 'endpoint' && webhooks.has(id)) return href(`/webhooks/${id}`)
    if (Object.hasOwn(SHARED, kind)) return href(SHARED[kind] ?? '')
    const path = Object.hasOwn(PATHS, kind) ? PATHS[kind] : undefined
    return path && href(path + encodeURIComponent(id))
  }
}

/** The whole entry as JSON, and links to related entries. */
const EntryDetails = ({ entry }: { entry: LoggedEntry }) => (
  <details class="fold">
    <summary>JSON</summary>
    <CodeBlock title="Event" wraps>
      {JSON.stringify(shownEntry(entry), null, 2).replaceAll(TURNS, asEscape)}
    </CodeBlock>
    <p class="hint">
      <a href={usePage().href('/audit', { object: entry.object })}>All events for this target</a>
      {entry.actor.id !== undefined && (
        <>
          {', '}
          <a href={usePage().href('/audit', { actor: entry.actor.id })}>all events by this actor</a>
        </>
      )}
    </p>
  </details>
)

/** Bidirectional control characters and Unicode line separators, shown as JSON escapes. */
const TURNS = /[\u2028-\u202e\u2066-\u2069]/g
const asEscape = (mark: string): string => `\\u${mark.charCodeAt(0).toString(16)}`
