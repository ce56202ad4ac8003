export const ENGINES = ['gate', 'clockwork', 'passepartout', 'relay'] as const
export type Engine = (typeof ENGINES)[number]

export const ENVIRONMENTS = ['live', 'test'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

/** What a key of each engine may be allowed to do; a new key may do all of it. */
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
} as const satisfies Record<Engine, readonly string[]>

export type EngineScope<E extends Engine = Engine> = (typeof ENGINE_SCOPES)[E][number]

/** Clockwork keys act on the one set of jobs that a tenant has. */
export const hasEnvironments = (engine: Engine): boolean => engine !== 'clockwork'
