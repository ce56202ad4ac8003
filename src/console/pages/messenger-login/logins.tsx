import { Sparkline } from '../../../../views/ui/charts/meter.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Tabs } from '../../../../views/ui/tabs.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Tiles } from '../../../../views/ui/tiles.tsx'
import { Time, useTimes } from '../../../../views/ui/time.tsx'
import { counted, numeral } from '../../../../views/ui/words.ts'
import {
  LOGIN_STATES,
  type LoginHours,
  type LoginRecord,
  type LoginState,
  MAX_COUNTED,
  type PersonRecord,
} from '../../../engines/passepartout/index.ts'
import type { Page } from '../../../platform/cursor.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { ListChips, ListFilters, NoMatches, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'

const ON_A_PAGE = 50
const SORTS = { started: 'desc' } as const

interface LoginList {
  found: Page<LoginRecord>
  /** Outcomes of the last 24 hours. */
  hours: LoginHours
  time: TimeFilter
}

/** Sign-ins by messenger. */
export const loginList = page({
  path: '/logins',
  section: 'logins',
  hasEnvironments: true,
  right: 'read',
  title: 'Logins',

  load(context): LoginList {
    const { passepartout, tenantId, environment, position } = context
    return {
      found: matching(context, { cursor: position.cursor, limit: ON_A_PAGE }),
      hours: passepartout.queries.lastDay({ tenantId, environment }),
      time: timeFilterIn(context),
    }
  },

  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  view(list) {
    const { found, hours, time } = list
    const { href } = usePage()
    const { relative } = useTimes()
    const { isFiltered, isFirst, pagesTo, sortedBy } = useList()
    const isEmpty = found.data.length === 0 && !isFiltered && isFirst
    return (
      <>
        <PageHead
          title="Logins"
          state={{ sentence: sentenceOnAll(list, relative) }}
          aside={!isEmpty && <ExportMenu />}
        />
        <LoginTabs current="attempts" />
        {!isEmpty && (
          <>
            <LastDay hours={hours} />
            <ListChips
              name="state"
              most={MAX_COUNTED}
              chips={LOGIN_STATES.map((of) => ({
                value: of,
                label: CHIPS[of],
                count: hours.stored[of],
                tone: BADGES[of].tone,
              }))}
            />
            <ListFilters time={time} />
          </>
        )}
        <DataTable
          caption="Sign-ins"
          columns={LOGIN_COLUMNS}
          rows={found.data}
          hrefOf={({ id }) => href(`/logins/${id}`)}
          idOf={({ id }) => id}
          pages={pagesTo(found.next_cursor)}
          sorting={sortedBy(SORTS)}
          empty={isEmpty ? <NoLogins /> : <NoMatches icon="logins" noun="sign-ins" />}
        />
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'logins',
      columns: {
        id: ({ id }) => id,
        state: ({ state }) => state,
        is_expired: (row) => row.is_expired,
        user_id: (row) => row.user_id,
        client_ip: (row) => row.client_ip,
        client_label: (row) => row.client_label,
        created_at: (row) => row.created_at,
        opened_at: (row) => row.opened_at,
        ended_at: (row) => row.ended_at,
      },
      slices: (context: PageContext) => pagesOf((of) => matching(context, of)),
    }),
  },
})

/** Sign-ins that match the filter of the query string, in its order. */
function matching(context: PageContext, of: { cursor: string | undefined; limit: number }) {
  const { passepartout, tenantId, environment, query } = context
  const { since, until } = timeFilterIn(context)
  const state = LOGIN_STATES.find((one) => one === query.state)
  const isAscending = !sortingIn(query.sort, SORTS).isDescending
  const asked = { ...of, state, since, until, isAscending }
  return passepartout.queries.list({ tenantId, environment }, asked)
}

function NoLogins() {
  const { environment, href } = usePage()
  return (
    <EmptyState
      icon="logins"
      sentence={`No ${environment} sign-ins yet`}
      next="Your app starts a sign-in, and the user approves it in the messenger. To try it, start a test login of the bot."
      action={
        <LinkButton weight="primary" href={href('/bots')}>
          View bot
        </LinkButton>
      }
    />
  )
}

function sentenceOnAll({ found, hours }: LoginList, relative: (at: number) => string): string {
  const [latest] = found.data
  const sums = sumsOf(hours)
  const all = Object.values(sums).reduce((sum, count) => sum + count, 0)
  if (all === 0)
    return latest
      ? `No sign-ins in the last 24 hours. Latest: ${relative(Date.parse(latest.created_at))}`
      : 'No sign-ins yet'
  const parts = [
    `${numeral(sums.approved)} approved`,
    `${numeral(sums.refused)} denied`,
    `${numeral(sums.expired)} expired`,
    ...(sums.waiting > 0 ? [`${numeral(sums.waiting)} waiting`] : []),
  ]
  return `${counted(all, 'sign-in')} ${hours.isCut ? 'counted' : 'in the last 24 hours'}: ${parts.join(', ')}`
}

type Outcome = keyof LoginHours['hours'][number]

function sumsOf({ hours }: LoginHours): Record<Outcome, number> {
  const sum = (of: Outcome) => hours.reduce((all, hour) => all + hour[of], 0)
  return {
    approved: sum('approved'),
    refused: sum('refused'),
    expired: sum('expired'),
    waiting: sum('waiting'),
  }
}

const OUTCOMES: readonly { of: Outcome; label: string; tone: Tone }[] = [
  { of: 'approved', label: 'Approved, 24 h', tone: 'good' },
  { of: 'refused', label: 'Denied, 24 h', tone: 'bad' },
  { of: 'expired', label: 'Expired, 24 h', tone: 'warn' },
]

/** Outcomes of the last 24 hours by hour. */
const LastDay = ({ hours }: { hours: LoginHours }) => (
  <Tiles
    label="Last 24 hours"
    tiles={OUTCOMES.map(({ of, label, tone }) => {
      const value = numeral(sumsOf(hours)[of])
      return {
        label,
        value,
        picture: (
          <Sparkline
            values={hours.hours.map((hour) => hour[of])}
            label={`${label}, by hour: ${value} in total`}
            tone={tone}
          />
        ),
      }
    })}
  />
)

export const LOGIN_COLUMNS: Column<LoginRecord>[] = [
  {
    label: 'Sign-in',
    isWide: true,
    cell: (login) => (
      <Text
        text={login.client_label ?? (deviceWords(login) || login.client_ip) ?? 'Sign-in'}
        limit={48}
      />
    ),
  },
  { label: 'Status', narrow: 'corner', cell: (login) => <StatusBadge {...badgeOf(login)} /> },
  { label: 'Device', cell: (login) => <Text text={deviceWords(login)} limit={40} /> },
  {
    label: 'IP address',
    isMono: true,
    narrow: 'hidden',
    cell: ({ client_ip: ip }) => (ip ? <Text text={ip} /> : '–'),
  },
  {
    label: 'Ended',
    align: 'right',
    cell: ({ ended_at: at }) => (at === null ? '–' : <Time at={Date.parse(at)} />),
  },
  {
    label: 'Started',
    align: 'right',
    sort: 'started',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} />,
  },
]

export const CHIPS: Record<LoginState, string> = {
  pending: 'Not opened',
  opened: 'Not answered',
  approved: 'Approved',
  denied: 'Denied',
  mismatched: 'Wrong number',
}

type ShownLogin = Pick<LoginRecord, 'state' | 'is_expired'>

const BADGES: Record<LoginState, { tone: Tone; word: string }> = {
  pending: { tone: 'busy', word: 'waiting' },
  opened: { tone: 'busy', word: 'opened' },
  approved: { tone: 'good', word: 'approved' },
  denied: { tone: 'bad', word: 'denied' },
  mismatched: { tone: 'bad', word: 'wrong number' },
}

export const badgeOf = ({ state, is_expired: isExpired }: ShownLogin) =>
  isExpired ? ({ tone: 'quiet', word: 'expired' } as const) : BADGES[state]

/** Tabs: sign-ins and users. */
export function LoginTabs({ current }: { current: 'attempts' | 'users' }) {
  const { href } = usePage()
  return (
    <Tabs
      label="Views"
      tabs={[
        { label: 'Sign-ins', href: href('/logins'), isCurrent: current === 'attempts' },
        { label: 'Users', href: href('/logins/users'), isCurrent: current === 'users' },
      ]}
    />
  )
}

export const deviceWords = ({ device }: Pick<LoginRecord, 'device'>): string =>
  [device?.browser, device?.system].filter(Boolean).join(' on ')

export const nameOf = (user: PersonRecord): string =>
  [user.first_name, user.last_name].filter(Boolean).join(' ')

export const UserLink = ({ user }: { user: PersonRecord }) => (
  <a href={usePage().href(`/logins/users/${user.id}`)}>
    <Text text={nameOf(user)} limit={64} />
  </a>
)
