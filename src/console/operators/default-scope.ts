/**
 * Default of a session without a selection: the tenant that its operator joined first, otherwise the
 * installation for admins (null), otherwise none (undefined). Names don't matter, so renaming or joining
 * another tenant never changes it.
 */
export function defaultScopeOf(
  memberships: readonly { tenantId: string; createdAt: number }[],
  isAdmin: boolean,
): string | null | undefined {
  const [first] = memberships.toSorted(
    (one, other) => one.createdAt - other.createdAt || (one.tenantId < other.tenantId ? -1 : 1),
  )
  return first?.tenantId ?? (isAdmin ? null : undefined)
}
