import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { type Pages, pagerLinks } from '../../../../views/ui/pager.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { FilterChips } from '../../../../views/ui/tabs.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { createCursor } from '../../../platform/cursor.ts'
import { ENGINE_SCOPES, ENGINES, type Engine } from '../../../platform/engines.ts'
import { type ApiKey, type KeyState, stateOf } from '../../../platform/keys/index.ts'
import { bulk, useSelection } from '../../bulk.ts'
import { ENGINE_WORDS } from '../../engine-words.ts'
import { ExportMenu, exportOf } from '../../export.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'

export const STATE_BADGES: Record<KeyState, { tone: Tone; word: string }> = {
  active: { tone: 'good', word: 'active' },
  expiring: { tone: 'warn', word: 'expires soon' },
  rotated: { tone: 'warn', word: 'rotated' },
  expired: { tone: 'quiet', word: 'expired' },
  revoked: { tone: 'quiet', word: 'revoked' },
}

const IN_USE: ReadonlySet<KeyState> = new Set(['active', 'expiring', 'rotated'])

/** The name of a key, or the part of its secret that is shown if it has no name. */
export const labelOf = ({ name, hint }: Pick<ApiKey, 'name' | 'hint'>): string => name ?? hint

/** Whether the expiry of a key can still change. */
export function canExpire(key: ApiKey, now: number): boolean {
  const state = stateOf(key, now)
  return state === 'active' || state === 'expiring'
}

/** The scopes of a key, in a word or two. */
function scopesLabel({ engines, scopes }: ApiKey): string {
  const known = engines.flatMap((engine): readonly string[] => ENGINE_SCOPES[engine])
  const held = known.filter((scope) => scopes.includes(scope))
  if (held.length === known.length) return 'All scopes'
  return held.length === 1 ? (held[0] ?? '') : `${held.length} of ${known.length} scopes`
}

const CREATORS: Record<NonNullable<ApiKey['created_by']>['kind'], string> = {
  cli: 'Command line',
  import: 'Import',
  key: 'API key',
  operator: 'Former member',
  person: 'User',
  system: 'Gatehouse',
}

/** Who created a key. `names` are those of the members of the tenant, by ID. */
export function creatorOf({ created_by: by }: ApiKey, names: ReadonlyMap<string, string>) {
  const name = by?.id ? names.get(by.id) : undefined
  if (name !== undefined) return <Text text={name} limit={40} />
  return by === null ? '–' : CREATORS[by.kind]
}

/** Names of the members of a tenant, by ID. */
export const memberNames = ({ operators, tenantId }: PageContext): ReadonlyMap<string, string> =>
  new Map(operators.memberships.list(tenantId).map(({ id, email }) => [id, email]))

export const engineIn = (name: string | undefined): Engine | undefined =>
  ENGINES.find((one) => one === name)

const ROWS = 50
/** Most keys that one page counts and filters. */
const MAX_SCANNED = 500

interface KeyList {
  /** Keys of the selected engine. */
  rows: readonly ApiKey[]
  /** The newest keys, for the counts. */
  newest: readonly ApiKey[]
  hasMore: boolean
  engine: Engine | undefined
  names: ReadonlyMap<string, string>
  pages: Pages
}

const BULK = {
  'selected/revoke': bulk({
    right: 'keys',
    verb: 'Revoke',
    noun: ['API key', 'API keys'],
    done: 'revoked',
    confirm: "Requests with these keys fail immediately. This can't be undone.",
    each: ({ keys, tenantId, actor }, id) => keys.revoke(actor, keys.find(tenantId, id).id),
  }),
}

const cursor = createCursor('console keys', ['number', 'string'])

/** The API keys of a tenant. */
export const keyList = page({
  path: '/keys',
  section: 'keys',
  right: 'keys',
  title: 'API keys',

  load(context): KeyList {
    const { keys, tenantId, query, position, href } = context
    const engine = engineIn(query.engine)
    const before = cursor.positionOf(position.cursor)
    const newest = keys.newest(tenantId, MAX_SCANNED)
    const scanned = before
      ? keys.newest(tenantId, MAX_SCANNED, { createdAt: before[0], id: before[1] })
      : newest
    const shown = engine ? scanned.filter((key) => key.engines.includes(engine)) : scanned
    const rows = shown.slice(0, ROWS)
    const last = shown.length > ROWS ? rows.at(-1) : scanned[MAX_SCANNED - 1]
    return {
      rows,
      newest,
      hasMore: newest.length === MAX_SCANNED,
      engine,
      names: memberNames(context),
      pages: pagerLinks(
        position,
        last && cursor.encode([Date.parse(last.created_at), last.id]),
        (to) => href('/keys', { engine, ...to }),
      ),
    }
  },

  view(list) {
    const { href, query, now } = usePage()
    const isNone = list.newest.length === 0
    return (
      <>
        <PageHead
          title="API keys"
          state={{ sentence: sentenceOn(list, now) }}
          action={!isNone && <NewKeyButton {...list} />}
          aside={!isNone && <ExportMenu />}
        />
        {!isNone && <Filters {...list} />}
        <DataTable
          caption="API keys, newest first"
          columns={columns(list.names)}
          rows={list.rows}
          hrefOf={({ id }) => href(`/keys/${id}`)}
          idOf={({ id }) => id}
          changedId={query.changed}
          empty={<NoKeys {...list} />}
          pages={list.pages}
          selection={useSelection(BULK)}
        />
      </>
    )
  },

  actions: BULK,

  files: {
    export: exportOf({
      name: 'api-keys',
      columns: {
        id: ({ id }) => id,
        name: ({ name }) => name,
        hint: ({ hint }) => hint,
        engines: ({ engines }) => engines.join(' '),
        scopes: ({ scopes }) => scopes.join(' '),
        environment: ({ environment }) => environment,
        created_at: (key) => key.created_at,
        last_used_at: (key) => key.last_used_at,
        expires_at: (key) => key.expires_at,
        revoked_at: (key) => key.revoked_at,
      },
      slices: matching,
    }),
  },
})

/** All keys of the selected engine, in slices. */
function* matching({ keys, tenantId, query }: PageContext) {
  const engine = engineIn(query.engine)
  for (let before: { createdAt: number; id: string } | undefined; ; ) {
    const rows = keys.newest(tenantId, MAX_SCANNED, before)
    yield engine ? rows.filter((key) => key.engines.includes(engine)) : rows
    const last = rows.length === MAX_SCANNED ? rows.at(-1) : undefined
    if (!last) return
    before = { createdAt: Date.parse(last.created_at), id: last.id }
  }
}

function Filters({ newest, hasMore, engine }: KeyList) {
  const { href } = usePage()
  const countOf = (keys: readonly ApiKey[]) => (hasMore ? undefined : keys.length)
  return (
    <FilterChips
      label="Engines"
      tabs={[
        { label: 'All', href: href('/keys'), count: countOf(newest), isCurrent: !engine },
        ...ENGINES.map((of) => ({
          label: ENGINE_WORDS[of].label,
          href: href('/keys', { engine: of }),
          count: countOf(newest.filter((key) => key.engines.includes(of))),
          isCurrent: of === engine,
        })),
      ]}
    />
  )
}

const NewKeyButton = ({ engine }: KeyList) => (
  <LinkButton weight="primary" href={usePage().href('/keys/new', { engine })}>
    Create key
  </LinkButton>
)

const NoKeys = (list: KeyList) => (
  <EmptyState
    icon="keys"
    sentence={
      list.engine ? `No API keys for ${ENGINE_WORDS[list.engine].label} yet` : 'No API keys yet'
    }
    next="Your apps authenticate with API keys. A key works with one engine or several."
    action={
      list.pages.olderHref === undefined ? (
        list.newest.length === 0 && <NewKeyButton {...list} />
      ) : (
        <LinkButton href={list.pages.olderHref}>View older keys</LinkButton>
      )
    }
  />
)

function sentenceOn({ newest, hasMore }: KeyList, now: number): string {
  if (newest.length === 0) return 'Your apps authenticate with API keys.'
  const states = newest.map((key) => stateOf(key, now))
  const inUse = states.filter((state) => IN_USE.has(state)).length
  const expiring = states.filter((state) => state === 'expiring').length
  const ended = states.length - inUse
  return [
    ...(hasMore ? [`Newest ${newest.length}`] : []),
    `${inUse} active`,
    ...(expiring > 0 ? [`${expiring} of them ${expiring === 1 ? 'expires' : 'expire'} soon`] : []),
    ...(ended > 0 ? [`${ended} inactive`] : []),
  ].join(', ')
}

const columns = (names: ReadonlyMap<string, string>): Column<ApiKey>[] => [
  {
    label: 'Key',
    isWide: true,
    cell: ({ name, hint }) =>
      name === null ? (
        <code>{hint}</code>
      ) : (
        <>
          <Text text={name} limit={60} />
          <span class="hint">
            <code>{hint}</code>
          </span>
        </>
      ),
  },
  {
    label: 'Engines',
    cell: (key) => (
      <>
        {key.engines.map((engine) => ENGINE_WORDS[engine].name).join(', ')}
        <span class="hint">{scopesLabel(key)}</span>
      </>
    ),
  },
  {
    label: 'Environment',
    cell: ({ environment }) =>
      environment === 'test' ? <span class="testbadge">Test</span> : 'Live',
  },
  {
    label: 'Status',
    narrow: 'corner',
    cell: (key) => <StatusBadge {...STATE_BADGES[stateOf(key, usePage().now)]} />,
  },
  {
    label: 'Last used',
    align: 'right',
    cell: ({ last_used_at: at }) => (at === null ? 'Never' : <Time at={Date.parse(at)} />),
  },
  { label: 'Expires', align: 'right', cell: (key) => <Expiry {...key} /> },
  {
    label: 'Created',
    align: 'right',
    cell: (key) => (
      <>
        <Time at={Date.parse(key.created_at)} />
        <span class="hint">{creatorOf(key, names)}</span>
      </>
    ),
  },
]

function Expiry(key: ApiKey) {
  const state = stateOf(key, usePage().now)
  if (key.expires_at === null || state === 'revoked') return <>{'–'}</>
  return <Time at={Date.parse(key.expires_at)} />
}
