import type {
  LoginHours,
  LoginRecord,
  LoginState,
} from '../../../../../src/engines/passepartout/index.ts'
import type { Environment } from '../../../../../src/platform/engines.ts'
import { Sparkline } from '../../../charts/sparkline.tsx'
import { type Column, DataTable } from '../../../data-table.tsx'
import { EmptyState } from '../../../empty-state.tsx'
import { LinkButton } from '../../../form/button.tsx'
import { PageHead } from '../../../page-head.tsx'
import type { Pages } from '../../../pager.tsx'
import { StatusMark } from '../../../status-mark.tsx'
import { FilterChips } from '../../../tabs.tsx'
import { Text } from '../../../text.tsx'
import { Tiles } from '../../../tiles.tsx'
import { relative, Time } from '../../../time.tsx'
import type { Tone } from '../../../tone.ts'
import { url } from '../../../url.ts'
import { CHIPS, deviceWords, markOf, Views } from './marks.tsx'

/** Attempts to sign in, newest first. */
export const LoginsPage = (page: {
  base: string
  environment: Environment
  logins: readonly LoginRecord[]
  /** Over the last day. */
  hours: LoginHours
  state: LoginState | undefined
  pages: Pages
  now: number
}) => {
  const { base, logins, state, now } = page
  const href = (of?: string) => url(base, '/console/logins', { state: of })
  return (
    <>
      <PageHead title="Logins" state={{ sentence: sentenceOnAll(page) }} />
      <Views base={base} current="attempts" />
      {logins.length > 0 && <LastDay hours={page.hours} />}
      <FilterChips
        label="States"
        tabs={[
          { label: 'All', href: href(), isCurrent: state === undefined },
          ...Object.entries(CHIPS).map(([of, label]) => ({
            label,
            href: href(of),
            isCurrent: of === state,
          })),
        ]}
      />
      <DataTable
        caption="Sign-ins"
        columns={columns(now)}
        rows={logins}
        hrefOf={({ id }) => url(base, `/console/logins/${id}`)}
        idOf={({ id }) => id}
        pages={page.pages}
        empty={
          <EmptyState
            icon="logins"
            sentence={
              state === undefined
                ? `No sign-in in ${page.environment} data yet.`
                : `No sign-in in this state: ${CHIPS[state].toLowerCase()}.`
            }
            next="An app starts one, and somebody approves it in the messenger. A test login of the bot does the same."
            action={
              <LinkButton weight="primary" href={url(base, `/console/bots/${page.environment}`)}>
                Show bot
              </LinkButton>
            }
          />
        }
      />
    </>
  )
}

function sentenceOnAll({ logins, hours, now }: Parameters<typeof LoginsPage>[0]): string {
  const [latest] = logins
  const sums = sumsOf(hours)
  const all = Object.values(sums).reduce((sum, count) => sum + count, 0)
  if (all === 0)
    return latest
      ? `Nobody has tried in 24 hours; the latest of these ${relative(Date.parse(latest.created_at), now)}.`
      : 'Nobody has tried to sign in.'
  const parts = [
    `${sums.approved.toLocaleString('en')} approved`,
    `${sums.refused.toLocaleString('en')} refused`,
    `${sums.expired.toLocaleString('en')} expired`,
    ...(sums.waiting > 0 ? [`${sums.waiting.toLocaleString('en')} still waiting`] : []),
  ]
  const of = all === 1 ? 'the one sign-in' : `the ${all.toLocaleString('en')} sign-ins`
  return `Of ${of} ${hours.isCut ? 'counted' : 'in 24 hours'}: ${parts.join(', ')}.`
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
  { of: 'refused', label: 'Refused, 24 h', tone: 'bad' },
  { of: 'expired', label: 'Expired, 24 h', tone: 'warn' },
]

/** What came of them, hour by hour. */
const LastDay = ({ hours }: { hours: LoginHours }) => (
  <Tiles
    label="The last 24 hours"
    tiles={OUTCOMES.map(({ of, label, tone }) => {
      const value = sumsOf(hours)[of].toLocaleString('en')
      return {
        label,
        value,
        picture: (
          <Sparkline
            values={hours.hours.map((hour) => hour[of])}
            label={`${label}, by the hour: ${value} in all`}
            tone={tone}
          />
        ),
      }
    })}
  />
)

export const columns = (now: number): Column<LoginRecord>[] => [
  {
    label: 'From',
    isWide: true,
    cell: (login) => (
      <Text
        text={login.client_label ?? (deviceWords(login) || login.client_ip) ?? 'Sign-in'}
        limit={48}
      />
    ),
  },
  { label: 'State', narrow: 'corner', cell: (login) => <StatusMark {...markOf(login)} /> },
  { label: 'Device', cell: (login) => <Text text={deviceWords(login)} limit={40} /> },
  {
    label: 'Address',
    isMono: true,
    narrow: 'hidden',
    cell: ({ client_ip: ip }) => (ip ? <Text text={ip} /> : '–'),
  },
  {
    label: 'Ended',
    align: 'right',
    cell: ({ ended_at: at }) => (at === null ? '–' : <Time at={Date.parse(at)} now={now} />),
  },
  {
    label: 'Started',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
  },
]
