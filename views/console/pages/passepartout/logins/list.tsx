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
import { StatusBadge } from '../../../status-badge.tsx'
import { FilterChips } from '../../../tabs.tsx'
import { Text } from '../../../text.tsx'
import { Tiles } from '../../../tiles.tsx'
import { relative, Time } from '../../../time.tsx'
import type { Tone } from '../../../tone.ts'
import { url } from '../../../url.ts'
import { counted } from '../../../words.ts'
import { badgeOf, CHIPS, deviceWords, Views } from './badges.tsx'

/** Sign-ins by messenger, newest first. */
export const LoginsPage = (page: {
  base: string
  environment: Environment
  logins: readonly LoginRecord[]
  /** Outcomes of the last 24 hours. */
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
        label="Status"
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
                ? `No ${page.environment} sign-ins yet`
                : `No sign-ins with status: ${CHIPS[state].toLowerCase()}`
            }
            next="Your app starts a sign-in, and the user approves it in the messenger. To try it, start a test login of the bot."
            action={
              <LinkButton weight="primary" href={url(base, `/console/bots/${page.environment}`)}>
                View bot
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
      ? `No sign-ins in the last 24 hours. Latest: ${relative(Date.parse(latest.created_at), now)}`
      : 'No sign-ins yet'
  const parts = [
    `${sums.approved.toLocaleString('en')} approved`,
    `${sums.refused.toLocaleString('en')} denied`,
    `${sums.expired.toLocaleString('en')} expired`,
    ...(sums.waiting > 0 ? [`${sums.waiting.toLocaleString('en')} waiting`] : []),
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
      const value = sumsOf(hours)[of].toLocaleString('en')
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

export const columns = (now: number): Column<LoginRecord>[] => [
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
    cell: ({ ended_at: at }) => (at === null ? '–' : <Time at={Date.parse(at)} now={now} />),
  },
  {
    label: 'Started',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
  },
]
