import type { GateOperators } from '../../engines/gate/operators/index.ts'
import { CodedErrors, refusalsIn } from '../../http/responses.ts'
import type { Scoped } from '../../http/scoped.ts'
import type { Manifests } from '../../manifest/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Keys } from '../../platform/keys/index.ts'
import type { Metering } from '../../platform/metering/index.ts'
import type { TenantDeletion } from '../../platform/portable/deletion.ts'
import type { Plan, Tenants } from '../../platform/tenants.ts'
import type { Operators } from '../operators/index.ts'

/** The services that the console and the command line use for the same. */
export interface InstallationApiParts {
  clock: Clock
  keys: Keys
  manifests: Manifests
  metering: Metering
  tenants: Tenants
  tenantDeletion: TenantDeletion
  operators: Operators
  gateOperators: GateOperators
  /** The plan of a tenant that is created without one. */
  defaultPlan: Plan
  access: Scoped
}

export const reads = ['installation:read', 'installation:write'] as const
export const writes = 'installation:write'

export const Conflict = CodedErrors[409]
export const Unknown = { ...CodedErrors[404], description: 'Code `not_found`: no such object.' }

export const { badBody, refused, spent } = refusalsIn(CodedErrors)
