import { ENGINES } from './engines.ts'

/** Whether something by this id belongs to the tenant. */
type IsOf = (tenantId: string, id: string) => boolean

export type Resources = ReturnType<typeof createResources>

const ENGINE_PREFIXES = ENGINES.map((engine) => `${engine}:`)

/**
 * What the engines keep, by kind, such as `clockwork:job`: for whoever is asked about an id and
 * has to know whose it is. Each part of the program adds what it keeps.
 */
export function createResources() {
  const kinds = new Map<string, IsOf>()

  const add = (kind: string, isOf: IsOf) => void kinds.set(kind, isOf)

  /** Kinds that no engine has are the tenant's own; of those of an engine, unknown ones are nobody's. */
  function belongsTo(tenantId: string, kind: string, id: string): boolean {
    const isOf = kinds.get(kind)
    if (isOf) return isOf(tenantId, id)
    return !ENGINE_PREFIXES.some((prefix) => kind.startsWith(prefix))
  }

  return { add, belongsTo }
}
