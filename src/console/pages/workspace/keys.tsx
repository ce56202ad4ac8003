import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import type { Page } from '../../../platform/cursor.ts'
import { ENGINE_SCOPES, ENGINES, type Engine } from '../../../platform/engines.ts'
import { type ApiKey, type KeyState, stateOf } from '../../../platform/keys/index.ts'
import { bulk, useSelection } from '../../bulk.ts'
import { ENGINE_WORDS } from '../../engine-words.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { ListChips, ListFilters, NoMatches, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'

export const STATE_BADGES: Record<KeyState, { tone: Tone; word: string }> = {
  active: { tone: 'good', word: 'active' },
  expiring: { tone: 'warn', word: 'expires soon' },
  rotated: { tone: 'warn', word: 'rotated' },
  expired: { tone: 'quiet', word: 'expired' },
  revoked: { tone: 'quiet', word: 'revoked' },
}

const IN_USE: readonly KeyState[] = ['active', 'expiring', 'rotated']

/** The name of a key, or the part of its secret that is shown if it has no name. */
export const labelOf = ({ name, hint }: Pick<ApiKey, 'name' | 'hint'>): string => name ?? hint

/** Whether the expiry of a key can still change. */
export function canExpire(key: ApiKey, now: number): boolean {
  const state = stateOf(key, now)
  return state === 'active' || state === 'expiring'
}

/** The scopes of a key, in a word or two. */
export function scopesLabel({ engines, scopes }: ApiKey): string {
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
export const memberNames = ({
  operators,
  tenantId,
}: Pick<PageContext, 'operators' | 'tenantId'>): ReadonlyMap<string, string> =>
  new Map(operators.memberships.list(tenantId).map(({ id, email }) => [id, email]))

export const engineIn = (name: string | undefined): Engine | undefined =>
  ENGINES.find((one) => one === name)

const ON_A_PAGE = 50
/** Most keys that are counted. */
const MAX_COUNTED = 500
export const SORTS = { created: 'desc', name: 'asc', used: 'desc', expires: 'asc' } as const

/** Filters by state: those that need attention first. */
const STATES: readonly {
  value: string
  label: string
  tone?: Tone
  states: readonly KeyState[]
}[] = [
  { value: 'expired', label: 'Expired', tone: 'bad', states: ['expired'] },
  { value: 'expiring', label: 'Expires soon', tone: 'warn', states: ['expiring'] },
  { value: 'active', label: 'Active', states: IN_USE },
  { value: 'revoked', label: 'Revoked', states: ['revoked'] },
]

interface KeyList {
  found: Page<ApiKey>
  /** The newest keys, for the counts. */
  newest: readonly ApiKey[]
  engine: Engine | undefined
  names: ReadonlyMap<string, string>
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

/** The API keys of a tenant. */
export const keyList = page({
  path: '/keys',
  section: 'keys',
  right: 'keys',
  title: 'API keys',

  load(context): KeyList {
    const { keys, tenantId, query, position } = context
    const found = matching(context, { cursor: position.cursor, limit: ON_A_PAGE })
    return {
      found,
      newest: keys.newest(tenantId, MAX_COUNTED),
      engine: engineIn(query.engine),
      names: memberNames(context),
    }
  },

  view(list) {
    const { href, query, now } = usePage()
    const { pagesTo, sortedBy } = useList()
    const { found, newest, names } = list
    const pages = pagesTo(found.next_cursor)
    const isNone = newest.length === 0
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
          caption="API keys"
          columns={keyColumns(names, ENGINES_COLUMN)}
          rows={found.data}
          hrefOf={({ id }) => href(`/keys/${id}`)}
          idOf={({ id }) => id}
          changedId={query.changed}
          empty={
            isNone ? (
              <NoKeys {...list} />
            ) : (
              <NoMatches icon="keys" noun="API keys" olderHref={pages.olderHref} />
            )
          }
          pages={pages}
          sorting={sortedBy(SORTS)}
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
      slices: (context: PageContext) => pagesOf((of) => matching(context, of)),
    }),
  },
})

/** Keys that match the filter of the query string, in its order. */
function matching(context: PageContext, of: { cursor: string | undefined; limit: number }) {
  const { keys, tenantId, query, now } = context
  const engine = engineIn(query.engine)
  const chosen = STATES.find(({ value }) => value === query.state)
  const matches = (key: ApiKey) =>
    (!engine || key.engines.includes(engine)) &&
    (!chosen || chosen.states.includes(stateOf(key, now)))
  return keys.page(tenantId, {
    ...{ ...of, ...sortingIn(query.sort, SORTS) },
    ...((engine || chosen) && { matches }),
  })
}

function Filters({ newest, engine }: KeyList) {
  const { now } = usePage()
  const ofEngine = newest.filter(({ engines }) => !engine || engines.includes(engine))
  const countOf = (states: readonly KeyState[]) =>
    ofEngine.filter((key) => states.includes(stateOf(key, now))).length
  return (
    <>
      <ListChips
        name="state"
        all={ofEngine.length}
        most={MAX_COUNTED}
        chips={STATES.map(({ states, ...chip }) => ({ ...chip, count: countOf(states) }))}
      />
      <ListFilters
        filters={[
          {
            name: 'engine',
            label: 'Engine',
            value: engine,
            options: ENGINES.map((value) => ({ value, label: ENGINE_WORDS[value].label })),
          },
        ]}
      />
    </>
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
    sentence="No API keys yet"
    next="Your apps authenticate with API keys. A key works with one engine or several."
    action={<NewKeyButton {...list} />}
  />
)

function sentenceOn({ newest }: KeyList, now: number): string {
  if (newest.length === 0) return 'Your apps authenticate with API keys.'
  const states = newest.map((key) => stateOf(key, now))
  const inUse = states.filter((state) => IN_USE.includes(state)).length
  const expiring = states.filter((state) => state === 'expiring').length
  const ended = states.length - inUse
  return [
    ...(newest.length === MAX_COUNTED ? [`Newest ${MAX_COUNTED}`] : []),
    `${inUse} active`,
    ...(expiring > 0 ? [`${expiring} of them ${expiring === 1 ? 'expires' : 'expire'} soon`] : []),
    ...(ended > 0 ? [`${ended} inactive`] : []),
  ].join(', ')
}

const ENGINES_COLUMN: Column<ApiKey> = {
  label: 'Engines',
  cell: (key) => (
    <>
      {key.engines.map((engine) => ENGINE_WORDS[engine].name).join(', ')}{' '}
      {key.environment === 'test' && <span class="testbadge">Test</span>}
      <span class="hint">{scopesLabel(key)}</span>
    </>
  ),
}

/** The columns of a list of keys; `rights` is about what they open. */
export const keyColumns = (
  names: ReadonlyMap<string, string>,
  rights: Column<ApiKey>,
): Column<ApiKey>[] => [
  {
    label: 'Key',
    isWide: true,
    sort: 'name',
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
  rights,
  {
    label: 'Status',
    narrow: 'corner',
    cell: (key) => <StatusBadge {...STATE_BADGES[stateOf(key, usePage().now)]} />,
  },
  {
    label: 'Last used',
    align: 'right',
    sort: 'used',
    cell: ({ last_used_at: at }) => (at === null ? 'Never' : <Time at={Date.parse(at)} />),
  },
  { label: 'Expires', align: 'right', sort: 'expires', cell: (key) => <Expiry {...key} /> },
  {
    label: 'Created',
    align: 'right',
    sort: 'created',
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
