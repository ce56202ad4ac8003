/**
 * Where a session acts that has not chosen: in the tenant that its operator joined first, else, as an
 * admin, for the installation (null), else nowhere (undefined). Names of tenants play no part: a tenant
 * that is joined or renamed later never comes first.
 */
export function defaultPlaceOf(
  memberships: readonly { tenantId: string; createdAt: number }[],
  isAdmin: boolean,
): string | null | undefined {
  const [first] = memberships.toSorted(
    (one, other) => one.createdAt - other.createdAt || (one.tenantId < other.tenantId ? -1 : 1),
  )
  return first?.tenantId ?? (isAdmin ? null : undefined)
}
