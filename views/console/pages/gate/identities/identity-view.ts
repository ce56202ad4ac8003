import type { Happening } from '../../../../../src/engines/gate/identities/history.ts'
import type { IdentityDetail } from '../../../../../src/engines/gate/identities/model.ts'
import type { Session } from '../../../../../src/engines/gate/sessions/model.ts'
import type { Device } from '../../../../../src/platform/device.ts'
import type { FormError } from '../../../form/error-summary.tsx'

export type SessionRow = Session & { device: Device | null }

export interface IdentityView {
  base: string
  now: number
  identity: IdentityDetail
  sessions: readonly SessionRow[]
  activity: readonly Happening[]
  /** Names of operators by ID. */
  names: ReadonlyMap<string, string>
  /** Whether the tenant has enabled email codes. */
  hasCode: boolean
  mayChange: boolean
  mayDelete: boolean
  /** Rejected metadata, as typed. */
  input?: string
  errors?: readonly FormError[]
}
