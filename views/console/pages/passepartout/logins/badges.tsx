import type {
  LoginRecord,
  LoginState,
  PersonRecord,
} from '../../../../../src/engines/passepartout/index.ts'
import { Tabs } from '../../../tabs.tsx'
import { Text } from '../../../text.tsx'
import type { Tone } from '../../../tone.ts'
import { url } from '../../../url.ts'

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
export const Views = ({ base, current }: { base: string; current: 'attempts' | 'users' }) => (
  <Tabs
    label="Views"
    tabs={[
      { label: 'Sign-ins', href: url(base, '/console/logins'), isCurrent: current === 'attempts' },
      { label: 'Users', href: url(base, '/console/logins/users'), isCurrent: current === 'users' },
    ]}
  />
)

export const deviceWords = ({ device }: Pick<LoginRecord, 'device'>): string =>
  [device?.browser, device?.system].filter(Boolean).join(' on ')

export const nameOf = (user: PersonRecord): string =>
  [user.first_name, user.last_name].filter(Boolean).join(' ')

export const UserLink = ({ base, user }: { base: string; user: PersonRecord }) => (
  <a href={url(base, `/console/logins/users/${user.id}`)}>
    <Text text={nameOf(user)} limit={64} />
  </a>
)
