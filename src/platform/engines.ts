/** The engines that tenants use. */
export const ENGINES = [
  'gate',
  'clockwork',
  'passepartout',
  'relay',
  'notifications',
  'manifest',
] as const
export type Engine = (typeof ENGINES)[number]

/** What a key is for: engines of a tenant, or the installation, whose keys belong to no tenant. */
export const KEY_ENGINES = [...ENGINES, 'installation'] as const
export type KeyEngine = (typeof KEY_ENGINES)[number]

export const ENVIRONMENTS = ['live', 'test'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

/** The scopes of each engine's keys; a new key has all of them by default. */
export const ENGINE_SCOPES = {
  gate: [
    'identities:read',
    'identities:write',
    'sessions:write',
    'flows',
    'settings:read',
    'settings:write',
    'tokens:write',
    'authorize',
  ],
  clockwork: ['clockwork'],
  passepartout: ['passepartout'],
  relay: ['relay:send', 'relay:read', 'relay:endpoints'],
  notifications: ['notifications:read', 'notifications:write'],
  manifest: ['manifest:read', 'manifest:write'],
  installation: ['installation:read', 'installation:write'],
} as const satisfies Record<KeyEngine, readonly string[]>

export type EngineScope<E extends KeyEngine = KeyEngine> = (typeof ENGINE_SCOPES)[E][number]

/** Whether an engine has live and test environments. Clockwork has one set of jobs per tenant. */
export const hasEnvironments = (engine: KeyEngine): boolean =>
  engine !== 'clockwork' && engine !== 'installation'
