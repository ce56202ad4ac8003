import { StatusBadge } from '../../../../views/ui/status.tsx'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import type { Device } from '../../../platform/device.ts'

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
