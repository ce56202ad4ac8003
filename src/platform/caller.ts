import { type Actor, INSTALLATION_SOURCE } from './audit/index.ts'
import type { Environment, KeyEngine } from './engines.ts'
import type { Plan, TenantStatus } from './tenants.ts'

/** What a request counts against its tenant's monthly allowance; changes as it is handled. */
export interface Charge {
  /** The UTC day that it counts for, `YYYY-MM-DD`: that of its arrival or its reservation. */
  day: string
  state: 'open' | 'reserved' | 'counted' | 'uncounted'
  /** One of the last requests of an allowance: stored immediately, so other processes see it. */
  isScarce: boolean
}

/** The key of a request, with the tenant that it belongs to and that tenant's terms. */
export interface KeyHolder {
  keyId: string
  tenantId: string
  tenantStatus: TenantStatus
  plan: Plan
  spendCapCents: number | null
  engines: readonly KeyEngine[]
  /** Null for a key of clockwork alone, or of the installation. */
  environment: Environment | null
  scopes: ReadonlySet<string>
}

/** The caller of a request: a program with an API key, or an operator with a console session. */
export interface Caller extends Omit<KeyHolder, 'keyId' | 'engines' | 'scopes'> {
  /** The engine that is called. */
  engine: KeyEngine
  /** The caller in the audit log. */
  readonly actor: Actor
  /** Absent if requests are not counted, such as in the console. */
  readonly charge?: Charge
  /** True for viewers, who can't change anything and see masked secrets. */
  readonly isReadOnly?: boolean
}

/** The caller of a request with an API key. */
export interface KeyCaller extends Caller, KeyHolder {
  readonly charge: Charge
}

/** The actor of a key in the audit log. A tenant's log also has what keys of the installation did. */
export const keyActor = ({ keyId, engines }: Pick<KeyHolder, 'keyId' | 'engines'>): Actor => ({
  kind: 'key',
  id: keyId,
  ...(engines.includes('installation') && { source: INSTALLATION_SOURCE }),
})
