/**
 * Scope of a session without a selection: the tenant joined first, else null (the installation) for
 * admins, else undefined. Renaming or joining another tenant never changes it.
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
