import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { type Pages, pagerLinks } from '../../../../views/ui/pager.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { FilterChips } from '../../../../views/ui/tabs.tsx'
import { Countdown, Time } from '../../../../views/ui/time.tsx'
import { createCursor } from '../../../platform/cursor.ts'
import { ENGINE_SCOPES, ENGINES, type Engine } from '../../../platform/engines.ts'
import type { ApiKey } from '../../../platform/keys.ts'
import { ENGINE_WORDS } from '../../engine-words.ts'
import { page, usePage } from '../../page.tsx'

export type KeyState = 'active' | 'ending' | 'ended'

export const stateOf = (
  { revoked_at: revokedAt, expires_at: expiresAt }: ApiKey,
  now: number,
): KeyState => {
  if (revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= now)) return 'ended'
  return expiresAt === null ? 'active' : 'ending'
}

export const STATE_BADGES: Record<KeyState, { tone: Tone; word: string }> = {
  active: { tone: 'good', word: 'active' },
  ending: { tone: 'warn', word: 'expiring' },
  ended: { tone: 'quiet', word: 'inactive' },
}

/** The scopes of a key, in a word or two. */
function scopesLabel({ engine, scopes }: ApiKey): string {
  const known: readonly string[] = ENGINE_SCOPES[engine]
  const held = known.filter((scope) => scopes.includes(scope))
  if (held.length === known.length) return 'All'
  return held.length === 1 ? (held[0] ?? '') : `${held.length} of ${known.length}`
}

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
  pages: Pages
}

const cursor = createCursor('console keys', ['number', 'string'])

/** The API keys of a tenant. */
export const keyList = page({
  path: '/keys',
  section: 'keys',
  right: 'keys',
  title: 'API keys',

  load({ keys, tenantId, query, position, href }): KeyList {
    const engine = engineIn(query.engine)
    const before = cursor.positionOf(position.cursor)
    const newest = keys.newest(tenantId, MAX_SCANNED)
    const scanned = before
      ? keys.newest(tenantId, MAX_SCANNED, { createdAt: before[0], id: before[1] })
      : newest
    const shown = engine ? scanned.filter((key) => key.engine === engine) : scanned
    const rows = shown.slice(0, ROWS)
    const last = shown.length > ROWS ? rows.at(-1) : scanned[MAX_SCANNED - 1]
    return {
      rows,
      newest,
      hasMore: newest.length === MAX_SCANNED,
      engine,
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
        />
        {!isNone && <Filters {...list} />}
        <DataTable
          caption="API keys, newest first"
          columns={COLUMNS}
          rows={list.rows}
          hrefOf={({ id }) => href(`/keys/${id}`)}
          idOf={({ id }) => id}
          changedId={query.changed}
          empty={<NoKeys {...list} />}
          pages={list.pages}
        />
      </>
    )
  },
})

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
          count: countOf(newest.filter((key) => key.engine === of)),
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
    next="Your apps authenticate with API keys. Each key works with one engine."
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
  const ending = states.filter((state) => state === 'ending').length
  const ended = states.filter((state) => state === 'ended').length
  return [
    ...(hasMore ? [`Newest ${newest.length}`] : []),
    `${states.length - ended} active`,
    ...(ending > 0 ? [`${ending} of them expiring`] : []),
    ...(ended > 0 ? [`${ended} inactive`] : []),
  ].join(', ')
}

const COLUMNS: Column<ApiKey>[] = [
  { label: 'Key', isMono: true, isWide: true, cell: ({ hint }) => hint },
  { label: 'Engine', cell: ({ engine }) => ENGINE_WORDS[engine].label },
  {
    label: 'Environment',
    cell: ({ environment }) =>
      environment === 'test' ? <span class="testbadge">Test</span> : 'Live',
  },
  { label: 'Scopes', cell: scopesLabel },
  { label: 'Status', narrow: 'corner', cell: (key) => <State keyOf={key} /> },
  {
    label: 'Last used',
    align: 'right',
    cell: ({ last_used_at: at }) => (at === null ? 'Never' : <Time at={Date.parse(at)} />),
  },
  { label: 'Created', align: 'right', cell: ({ created_at: at }) => <Time at={Date.parse(at)} /> },
]

function State({ keyOf: key }: { keyOf: ApiKey }) {
  const state = stateOf(key, usePage().now)
  return (
    <>
      <StatusBadge {...STATE_BADGES[state]} />
      {state === 'ending' && (
        <span class="hint">
          expires in <Countdown until={Date.parse(key.expires_at ?? '')} />
        </span>
      )}
    </>
  )
}
