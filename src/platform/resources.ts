import { ENGINES } from './engines.ts'

/** Whether the tenant has a resource with this id. */
type IsOf = (tenantId: string, id: string) => boolean

export type Resources = ReturnType<typeof createResources>

const ENGINE_PREFIXES = ENGINES.map((engine) => `${engine}:`)

/** Resources by kind, such as `clockwork:job`, to check whether an id belongs to a tenant. */
export function createResources() {
  const kinds = new Map<string, IsOf>()

  const add = (kind: string, isOf: IsOf) => void kinds.set(kind, isOf)

  /** Kinds without an engine's prefix are the tenant's own; unknown kinds of an engine are not. */
  function belongsTo(tenantId: string, kind: string, id: string): boolean {
    const isOf = kinds.get(kind)
    if (isOf) return isOf(tenantId, id)
    return !ENGINE_PREFIXES.some((prefix) => kind.startsWith(prefix))
  }

  return { add, belongsTo }
}
