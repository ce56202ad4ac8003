import type { ComponentChildren } from 'preact'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import type { Happening } from '../../../engines/gate/identities/history.ts'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import type { Session } from '../../../engines/gate/sessions/model.ts'
import type { SignIn } from '../../../engines/gate/sessions/sign-ins.ts'
import type { Device } from '../../../platform/device.ts'
import { good } from '../../page.tsx'

export type UserSession = Session & { device: Device | null }

/** What the page of a user shows. */
export interface UserView {
  identity: IdentityDetail
  sessions: readonly UserSession[]
  signIns: readonly SignIn[]
  activity: readonly Happening[]
  /** Names of operators by ID. */
  names: ReadonlyMap<string, string>
  /** Whether the tenant has enabled email codes. */
  hasCode: boolean
}

export const StateBadge = ({ state }: Pick<IdentityDetail, 'state'>) =>
  state === 'active' ? (
    <StatusBadge tone="good" word="active" />
  ) : (
    <StatusBadge tone="quiet" word="inactive" />
  )

export const VerifiedBadge = ({ isVerified }: { isVerified: boolean }) =>
  isVerified ? (
    <StatusBadge tone="good" word="verified" />
  ) : (
    <StatusBadge tone="warn" word="not verified" />
  )

/** Names of the authentication methods. */
const METHODS: Record<string, string> = {
  password: 'password',
  code: 'email code',
  code_recovery: 'recovery email',
  totp: 'authenticator app',
  lookup_secret: 'recovery code',
  oidc: 'social login',
}

export const methodNames = (methods: readonly string[]): string =>
  methods.map((method) => METHODS[method] ?? method).join(', ')

export const deviceName = (device: Device | null): string => {
  if (!device) return 'unknown device'
  const { browser, system } = device
  return browser && system ? `${browser} on ${system}` : (browser ?? system ?? '')
}

/** `issue` is set if the method doesn't work. */
export const Switched = ({ isOn, issue }: { isOn: boolean; issue?: ComponentChildren }) => {
  if (!isOn) return <StatusBadge tone="quiet" word="disabled" />
  return issue === undefined ? (
    <StatusBadge tone="good" word="enabled" />
  ) : (
    <StatusBadge tone="warn" word="not configured" />
  )
}

export const Switch = ({
  isOn,
  name,
  action,
  fields,
}: {
  isOn: boolean
  name: string
  action: string
  fields?: Record<string, string>
}) => (
  <ActionButton isSmall action={`${action}/${isOn ? 'off' : 'on'}`} fields={fields}>
    {isOn ? 'Disable' : 'Enable'}
    <span class="unseen"> {name}</span>
  </ActionButton>
)

export const ENABLED = good('Enabled.')
export const DISABLED = good('Disabled.')
