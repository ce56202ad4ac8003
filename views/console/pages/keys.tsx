import { ENGINES, type Engine } from '../../../src/platform/engines.ts'
import type { ApiKey } from '../../../src/platform/keys.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { LinkButton } from '../form/button.tsx'
import { PageHead } from '../page-head.tsx'
import type { Pages } from '../pager.tsx'
import { StatusBadge } from '../status-badge.tsx'
import { FilterChips } from '../tabs.tsx'
import { Countdown, Time } from '../time.tsx'
import { url } from '../url.ts'
import { ENGINE_WORDS, STATE_BADGES, scopesLabel, stateOf } from './key-words.ts'

interface Page {
  base: string
  /** Keys of the selected engine. */
  rows: readonly ApiKey[]
  /** The newest keys, for the counts. */
  newest: readonly ApiKey[]
  hasMore: boolean
  engine: Engine | undefined
  changedId: string | undefined
  pages: Pages
  now: number
}

/** The API keys of a tenant. */
export const KeysPage = (page: Page) => {
  const { base, newest, hasMore, engine, now } = page
  const countOf = (keys: readonly ApiKey[]) => (hasMore ? undefined : keys.length)
  return (
    <>
      <PageHead
        title="API keys"
        state={{ sentence: sentenceOn(page) }}
        action={newest.length > 0 && <NewKey {...page} />}
      />
      {newest.length > 0 && (
        <FilterChips
          label="Engines"
          tabs={[
            {
              label: 'All',
              href: url(base, '/console/keys'),
              count: countOf(newest),
              isCurrent: !engine,
            },
            ...ENGINES.map((of) => ({
              label: ENGINE_WORDS[of].label,
              href: url(base, '/console/keys', { engine: of }),
              count: countOf(newest.filter((key) => key.engine === of)),
              isCurrent: of === engine,
            })),
          ]}
        />
      )}
      <DataTable
        caption="API keys, newest first"
        columns={columns(now)}
        rows={page.rows}
        hrefOf={({ id }) => url(base, `/console/keys/${id}`)}
        idOf={({ id }) => id}
        changedId={page.changedId}
        empty={<NoKey {...page} />}
        pages={page.pages}
      />
    </>
  )
}

const NewKey = ({ base, engine }: Page) => (
  <LinkButton weight="primary" href={url(base, '/console/keys/new', { engine })}>
    Create key
  </LinkButton>
)

const NoKey = (page: Page) => (
  <EmptyState
    icon="keys"
    sentence={
      page.engine ? `No API keys for ${ENGINE_WORDS[page.engine].label} yet` : 'No API keys yet'
    }
    next="Your apps authenticate with API keys. Each key works with one engine."
    action={
      page.pages.olderHref === undefined ? (
        page.newest.length === 0 && <NewKey {...page} />
      ) : (
        <LinkButton href={page.pages.olderHref}>View older keys</LinkButton>
      )
    }
  />
)

function sentenceOn({ newest, hasMore, now }: Page): string {
  if (newest.length === 0) return 'Your apps authenticate with API keys.'
  const states = newest.map((key) => stateOf(key, now))
  const ending = states.filter((state) => state === 'ending').length
  const ended = states.filter((state) => state === 'ended').length
  const living = states.length - ended
  return [
    ...(hasMore ? [`Newest ${newest.length}`] : []),
    `${living} active`,
    ...(ending > 0 ? [`${ending} of them expiring`] : []),
    ...(ended > 0 ? [`${ended} inactive`] : []),
  ].join(', ')
}

const columns = (now: number): Column<ApiKey>[] => [
  { label: 'Key', isMono: true, isWide: true, cell: ({ hint }) => hint },
  { label: 'Engine', cell: ({ engine }) => ENGINE_WORDS[engine].label },
  {
    label: 'Environment',
    cell: ({ environment }) =>
      environment === 'test' ? <span class="testbadge">Test</span> : 'Live',
  },
  { label: 'Scopes', cell: scopesLabel },
  { label: 'Status', narrow: 'corner', cell: (key) => <State keyOf={key} now={now} /> },
  {
    label: 'Last used',
    align: 'right',
    cell: ({ last_used_at: at }) =>
      at === null ? 'Never' : <Time at={Date.parse(at)} now={now} />,
  },
  {
    label: 'Created',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
  },
]

const State = ({ keyOf: key, now }: { keyOf: ApiKey; now: number }) => {
  const state = stateOf(key, now)
  return (
    <>
      <StatusBadge {...STATE_BADGES[state]} />
      {state === 'ending' && (
        <span class="hint">
          expires in <Countdown until={Date.parse(key.expires_at ?? '')} now={now} />
        </span>
      )}
    </>
  )
}
