import { ENGINES } from './engines.ts'

/** Whether the tenant has a resource with this id. */
type IsOf = (tenantId: string, id: string) => boolean

export type Resources = ReturnType<typeof createResources>

const ENGINE_PREFIXES = ENGINES.map((engine) => `${engine}:`)

/**
 * The resources of all engines by kind, such as `clockwork:job`, to find out whether an id belongs
 * to a tenant. Each part of the program adds its kinds.
 */
export function createResources() {
  const kinds = new Map<string, IsOf>()

  const add = (kind: string, isOf: IsOf) => void kinds.set(kind, isOf)

  /**
   * Whether a resource belongs to a tenant. Kinds without an engine's prefix are the tenant's own;
   * unknown kinds of an engine belong to no tenant.
   */
  function belongsTo(tenantId: string, kind: string, id: string): boolean {
    const isOf = kinds.get(kind)
    if (isOf) return isOf(tenantId, id)
    return !ENGINE_PREFIXES.some((prefix) => kind.startsWith(prefix))
  }

  return { add, belongsTo }
}
