import { ENGINES, type Engine } from '../../../src/platform/engines.ts'
import type { ApiKey } from '../../../src/platform/keys.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { LinkButton } from '../form/button.tsx'
import { PageHead } from '../page-head.tsx'
import type { Pages } from '../pager.tsx'
import { StatusMark } from '../status-mark.tsx'
import { FilterChips } from '../tabs.tsx'
import { Countdown, Time } from '../time.tsx'
import { url } from '../url.ts'
import { ENGINE_WORDS, LIFE_MARKS, lifeOf, reachOf } from './key-words.ts'

interface Page {
  base: string
  /** Of one engine, where one is chosen. */
  rows: readonly ApiKey[]
  /** What is counted: the newest keys, and whether there are more. */
  newest: readonly ApiKey[]
  hasMore: boolean
  engine: Engine | undefined
  changedId: string | undefined
  pages: Pages
  now: number
}

/** What programs get in with. */
export const KeysPage = (page: Page) => {
  const { base, newest, hasMore, engine, now } = page
  const countOf = (keys: readonly ApiKey[]) => (hasMore ? undefined : keys.length)
  return (
    <>
      <PageHead
        title="Keys"
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
        caption="Keys, the newest first"
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
    New key
  </LinkButton>
)

const NoKey = (page: Page) => (
  <EmptyState
    icon="keys"
    sentence={page.engine ? `No key of ${ENGINE_WORDS[page.engine].label} yet.` : 'No key yet.'}
    next="A program shows a key with each request. A key is of one engine."
    action={
      page.pages.olderHref === undefined ? (
        page.newest.length === 0 && <NewKey {...page} />
      ) : (
        <LinkButton href={page.pages.olderHref}>Look at older keys</LinkButton>
      )
    }
  />
)

function sentenceOn({ newest, hasMore, now }: Page): string {
  if (newest.length === 0) return 'Programs get in with keys, and there is none.'
  const lives = newest.map((key) => lifeOf(key, now))
  const ending = lives.filter((life) => life === 'ending').length
  const ended = lives.filter((life) => life === 'ended').length
  const living = lives.length - ended
  return [
    ...(hasMore ? [`Of the newest ${newest.length}`] : []),
    `${living} ${living === 1 ? 'key works' : 'keys work'}`,
    ...(ending > 0 ? [`${ending} of them about to end`] : []),
    ...(ended > 0 ? [`${ended} ended`] : []),
  ].join(', ')
}

const columns = (now: number): Column<ApiKey>[] => [
  { label: 'Key', isMono: true, isWide: true, cell: ({ hint }) => hint },
  { label: 'Engine', cell: ({ engine }) => ENGINE_WORDS[engine].label },
  {
    label: 'Data',
    cell: ({ environment }) =>
      environment === 'test' ? <span class="testbadge">test</span> : 'live',
  },
  { label: 'Scopes', cell: reachOf },
  { label: 'State', narrow: 'corner', cell: (key) => <State keyOf={key} now={now} /> },
  {
    label: 'Last used',
    align: 'right',
    cell: ({ last_used_at: at }) =>
      at === null ? 'never' : <Time at={Date.parse(at)} now={now} />,
  },
  {
    label: 'Created',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
  },
]

const State = ({ keyOf: key, now }: { keyOf: ApiKey; now: number }) => {
  const life = lifeOf(key, now)
  return (
    <>
      <StatusMark {...LIFE_MARKS[life]} />
      {life === 'ending' && (
        <span class="hint">
          ends in <Countdown until={Date.parse(key.expires_at ?? '')} now={now} />
        </span>
      )}
    </>
  )
}
