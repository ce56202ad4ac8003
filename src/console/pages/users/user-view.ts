import type { Happening } from '../../../engines/gate/identities/history.ts'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import type { Session } from '../../../engines/gate/sessions/model.ts'
import type { Device } from '../../../platform/device.ts'

export type UserSession = Session & { device: Device | null }

/** What the page of a user shows. */
export interface UserView {
  identity: IdentityDetail
  sessions: readonly UserSession[]
  activity: readonly Happening[]
  /** Names of operators by ID. */
  names: ReadonlyMap<string, string>
  /** Whether the tenant has enabled email codes. */
  hasCode: boolean
}
