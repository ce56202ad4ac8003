import type { Tone } from '../../../../views/ui/status.tsx'
import { Tabs } from '../../../../views/ui/tabs.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import type { LoginRecord, LoginState, PersonRecord } from '../../../engines/passepartout/index.ts'
import { usePage } from '../../page.tsx'

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
