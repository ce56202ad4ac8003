import type { VNode } from 'preact'
import { shownEntry } from '../../../src/platform/audit/formats.ts'
import type { LoggedEntry } from '../../../src/platform/audit/index.ts'
import { CodeBlock } from '../code-block.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { Button, LinkButton } from '../form/button.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { FieldRow, Form } from '../form/form.tsx'
import { Id } from '../id.tsx'
import { PageHead } from '../page-head.tsx'
import { FilterChips } from '../tabs.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import { url } from '../url.ts'

/** What is looked for, and where in the log: all of it stands in the address. */
export type AuditQuery = Partial<
  Record<'action' | 'actor' | 'object' | 'since' | 'until' | 'before' | 'after' | 'format', string>
>

export interface Found {
  /** Newest first; a page may be empty and not the last. */
  entries: readonly LoggedEntry[]
  /** What to go on with, as `before` and `after`. */
  older: number | undefined
  newer: number | undefined
}

interface Page {
  base: string
  query: AuditQuery
  now: number
  /** Of operators, by their id. */
  names: ReadonlyMap<string, string>
  maySeeKeys: boolean
  /** Endpoints that are webhooks: the log calls both the same. */
  webhooks: ReadonlySet<string>
  /** None where the question itself is wrong. */
  found?: Found
  errors?: readonly FormError[]
}

/** The nouns that people ask for, by how their actions begin. */
const CHIPS = [
  { label: 'All', action: undefined },
  { label: 'Keys', action: 'key.' },
  { label: 'Team', action: 'member.' },
  { label: 'Identities', action: 'identity.' },
  { label: 'Jobs', action: 'job.' },
  { label: 'Bots', action: 'bot.' },
  { label: 'Endpoints', action: 'endpoint.' },
  { label: 'Tenant', action: 'tenant.' },
] as const

/** Who did what to what, and from where. */
export const AuditPage = (page: Page) => {
  const { base, query, found, errors } = page
  const { action, actor, object, since, until } = query
  const filter = { action, actor, object, since, until }
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const at = (more: AuditQuery) => url(base, '/console/audit', { ...filter, ...more })
  const file = (format: string) => url(base, '/console/audit/export', { ...filter, format })
  const errorAt = (name: string) => errors?.find((error) => error.name === name)?.message
  return (
    <>
      <PageHead
        title="Audit"
        state={{ sentence: sentenceOn(page, isFiltered) }}
        aside={
          !errors && (
            <>
              <LinkButton href={file('csv')}>Export CSV</LinkButton>
              <LinkButton href={file('ndjson')}>Export NDJSON</LinkButton>
            </>
          )
        }
      />
      <FilterChips
        label="What was done"
        tabs={CHIPS.map((chip) => ({
          label: chip.label,
          href: at({ action: chip.action }),
          isCurrent: chip.action === action,
        }))}
      />
      <details class="fold" open={isFiltered || errors !== undefined}>
        <summary>Filter</summary>
        <Form
          action={url(base, '/console/audit')}
          method="get"
          errors={errors}
          buttons={
            <>
              <Button weight="primary">Show entries</Button>
              {isFiltered && <LinkButton href={url(base, '/console/audit')}>Clear</LinkButton>}
            </>
          }
        >
          <FieldRow>
            <Field
              name="action"
              label="What was done"
              isMono
              isRequired={false}
              value={action}
              help="How it begins: key. or key.revoked"
            />
            <Field
              name="object"
              label="To what"
              isMono
              isRequired={false}
              value={object}
              help="A part of it, such as an id"
            />
          </FieldRow>
          <Field
            name="actor"
            label="By whom"
            isMono
            isRequired={false}
            value={actor}
            help="The id of a key, an operator or a person"
          />
          <FieldRow>
            <Moment name="since" label="Since" value={since} error={errorAt('since')} />
            <Moment name="until" label="Until" value={until} error={errorAt('until')} />
          </FieldRow>
        </Form>
      </details>
      {found && (
        <DataTable
          caption="Entries, the newest first"
          columns={columns(page)}
          rows={found.entries}
          idOf={({ seq }) => `${seq}`}
          empty={<Nothing {...found} at={at} isFiltered={isFiltered} />}
          pages={{
            newerHref: found.newer === undefined ? undefined : at({ after: `${found.newer}` }),
            olderHref: found.older === undefined ? undefined : at({ before: `${found.older}` }),
          }}
        />
      )}
    </>
  )
}

/** What no picker can show, such as a time with a zone, is there to read and to change as text. */
const Moment = (field: { name: string; label: string; value?: string; error?: string }) => (
  <Field
    {...field}
    type={/^(\d{4}-\d\d-\d\dT\d\d:\d\d)?$/.test(field.value ?? '') ? 'datetime-local' : 'text'}
    isRequired={false}
    help="In UTC"
  />
)

function sentenceOn(page: Page, isFiltered: boolean) {
  const { found, query, now } = page
  if (!found) return 'Nothing is shown: the filter is not understood.'
  const [latest] = found.entries
  if (!latest)
    return isFiltered ? 'Nothing here answers to the filter.' : 'Nothing is recorded yet.'
  if (query.before !== undefined || query.after !== undefined)
    return isFiltered ? 'Older entries that answer to the filter.' : 'Older entries.'
  return (
    <>
      {isFiltered ? 'The latest that answers to the filter: ' : 'The latest: '}
      <Text text={latest.action} limit={48} /> by {nameOf(latest, page.names)}{' '}
      <Time at={latest.at} now={now} />
    </>
  )
}

const Nothing = (page: Found & { at: (more: AuditQuery) => string; isFiltered: boolean }) => (
  <EmptyState
    icon="audit"
    sentence={page.isFiltered ? 'No entry here answers to the filter.' : 'No entry here.'}
    next={
      page.older === undefined
        ? 'Every change by a key, an operator, a person or the command line is recorded.'
        : 'Only a part of the log is looked through at once.'
    }
    action={
      <>
        {page.newer !== undefined && (
          <LinkButton href={page.at({ after: `${page.newer}` })}>Newer</LinkButton>
        )}
        {page.older !== undefined && (
          <LinkButton weight="primary" href={page.at({ before: `${page.older}` })}>
            Look further back
          </LinkButton>
        )}
      </>
    }
  />
)

const columns = (page: Page): Column<LoggedEntry>[] => [
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

const Thing = ({ entry, ...page }: Page & { entry: LoggedEntry }) => {
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

const Who = ({ entry, ...page }: Page & { entry: LoggedEntry }) => {
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

const nameOf = ({ actor }: LoggedEntry, names: ReadonlyMap<string, string>) => {
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

function pageOf({ base, maySeeKeys, webhooks }: Page, kind: string, id: string) {
  if (id.length > LONGEST_ID || !id.isWellFormed()) return undefined
  if (kind === 'key') return maySeeKeys ? url(base, `/console/keys/${id}`) : undefined
  if (kind === 'endpoint' && webhooks.has(id)) return url(base, `/console/webhooks/${id}`)
  if (Object.hasOwn(SHARED, kind)) return url(base, SHARED[kind] ?? '')
  const place = Object.hasOwn(PLACES, kind) ? PLACES[kind] : undefined
  return place && url(base, place + encodeURIComponent(id))
}

/** All that is known of it, for whoever needs more than a line. */
const Whole = ({ entry, base }: Page & { entry: LoggedEntry }) => (
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
