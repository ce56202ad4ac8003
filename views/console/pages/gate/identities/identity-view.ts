import type { Happening } from '../../../../../src/engines/gate/history.ts'
import type { IdentityDetail } from '../../../../../src/engines/gate/model/identities.ts'
import type { Session } from '../../../../../src/engines/gate/model/sessions.ts'
import type { Device } from '../../../../../src/platform/device.ts'
import type { FormError } from '../../../form/error-summary.tsx'

export type SessionSeen = Session & { device: Device | null }

export interface IdentityView {
  base: string
  now: number
  identity: IdentityDetail
  sessions: readonly SessionSeen[]
  happenings: readonly Happening[]
  /** Names of operators by ID. */
  names: ReadonlyMap<string, string>
  /** Whether the tenant has enabled email codes. */
  hasCode: boolean
  mayChange: boolean
  mayDelete: boolean
  /** Rejected metadata, as typed. */
  typed?: string
  errors?: readonly FormError[]
}
