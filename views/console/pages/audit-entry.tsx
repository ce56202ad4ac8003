import type { VNode } from 'preact'
import { shownEntry } from '../../../src/platform/audit/formats.ts'
import type { LoggedEntry } from '../../../src/platform/audit/index.ts'
import { CodeBlock } from '../code-block.tsx'
import type { Column } from '../data-table.tsx'
import { Id } from '../id.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import { url } from '../url.ts'
import type { AuditShown } from './audit.tsx'

/** The line of an entry: each thing and each actor leads to its page. */
export const columns = (page: AuditShown): Column<LoggedEntry>[] => [
  { label: 'What', isMono: true, cell: ({ action }) => <Text text={action} limit={48} /> },
  { label: 'To', cell: (entry) => <Thing {...page} entry={entry} /> },
  { label: 'By', cell: (entry) => <Who {...page} entry={entry} /> },
  {
    label: 'From',
    cell: ({ actor }) =>
      actor.source === undefined ? '–' : <Text text={actor.source} limit={48} />,
  },
  { label: 'Entry', narrow: 'bare', cell: (entry) => <Whole {...page} entry={entry} /> },
  {
    label: 'When',
    align: 'right',
    narrow: 'corner',
    cell: ({ at }) => <Time at={at} now={page.now} />,
  },
]

/** `bot` of `passepartout:bot:0192…`; ids that tenants give may have colons of their own. */
const OBJECT = /^((?:passepartout:)?\w+):(.+)$/s

const Thing = ({ entry, ...page }: AuditShown & { entry: LoggedEntry }) => {
  const [, kind = '', id] = OBJECT.exec(entry.object) ?? []
  if (id === undefined) return <Text text={entry.object} limit={48} />
  const href = entry.action.endsWith('.deleted') ? undefined : pageOf(page, kind, id)
  return (
    <>
      {kind.replace('passepartout:', '').replaceAll('_', ' ')}{' '}
      <Name id={id} what={`${kind} id`} href={href} />
    </>
  )
}

const WORDS: Record<LoggedEntry['actor']['kind'], string> = {
  cli: 'command line',
  key: 'key',
  operator: 'operator',
  person: 'person',
  system: 'Gatehouse',
}

const Who = ({ entry, ...page }: AuditShown & { entry: LoggedEntry }) => {
  const { kind, id } = entry.actor
  if (id === undefined) return <>{WORDS[kind]}</>
  const href = pageOf(page, kind === 'person' ? 'identity' : kind, id)
  const name = page.names.get(id)
  if (name !== undefined)
    return (
      <Linked href={href}>
        <Text text={name} limit={40} />
      </Linked>
    )
  return (
    <>
      {WORDS[kind]} <Name id={id} what={`${kind} id`} href={href} />
    </>
  )
}

/** In a sentence. */
export const nameOf = ({ actor }: LoggedEntry, names: ReadonlyMap<string, string>) => {
  const name = actor.id === undefined ? undefined : names.get(actor.id)
  if (name !== undefined) return <Text text={name} limit={40} />
  return actor.id === undefined
    ? WORDS[actor.kind]
    : `a${actor.kind === 'operator' ? 'n' : ''} ${WORDS[actor.kind]}`
}

/** Ours are told by their ends; what tenants give is read from its beginning. */
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

/** Where each kind of thing has a page of its own. */
const PLACES: Readonly<Record<string, string>> = {
  identity: '/console/identities/',
  job: '/console/jobs/',
  delayed_job: '/console/delayed/',
  endpoint: '/console/endpoints/',
  message: '/console/messages/',
  delivery: '/console/deliveries/',
  'passepartout:login': '/console/logins/',
  'passepartout:user': '/console/logins/users/',
}

/** Where it shares one with all of its kind. */
const SHARED: Readonly<Record<string, string>> = {
  operator: '/console/team',
  invitation: '/console/team',
  tenant: '/console/settings',
  'passepartout:bot': '/console/bots',
}

/** Longer than any id that has a page. */
const LONGEST_ID = 256

function pageOf({ base, maySeeKeys, webhooks }: AuditShown, kind: string, id: string) {
  if (id.length > LONGEST_ID || !id.isWellFormed()) return undefined
  if (kind === 'key') return maySeeKeys ? url(base, `/console/keys/${id}`) : undefined
  if (kind === 'endpoint' && webhooks.has(id)) return url(base, `/console/webhooks/${id}`)
  if (Object.hasOwn(SHARED, kind)) return url(base, SHARED[kind] ?? '')
  const place = Object.hasOwn(PLACES, kind) ? PLACES[kind] : undefined
  return place && url(base, place + encodeURIComponent(id))
}

/** All that is known of it, for whoever needs more than a line. */
const Whole = ({ entry, base }: AuditShown & { entry: LoggedEntry }) => (
  <details class="fold">
    <summary>JSON</summary>
    <CodeBlock title="Entry" wraps>
      {JSON.stringify(shownEntry(entry), null, 2).replaceAll(TURNS, asEscape)}
    </CodeBlock>
    <p class="hint">
      <a href={url(base, '/console/audit', { object: entry.object })}>All on this object</a>
      {entry.actor.id !== undefined && (
        <>
          {', '}
          <a href={url(base, '/console/audit', { actor: entry.actor.id })}>all by this actor</a>
        </>
      )}
    </p>
  </details>
)

/** Marks that turn a line round, and lines that are none for JSON: as JSON can spell them, too. */
const TURNS = /[\u2028-\u202e\u2066-\u2069]/g
const asEscape = (mark: string): string => `\\u${mark.charCodeAt(0).toString(16)}`
