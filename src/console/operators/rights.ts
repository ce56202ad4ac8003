/** Roles of operators in a tenant, highest first. */
export const ROLES = ['owner', 'member', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** Whether a role is higher than another, or than none. */
export const outranks = (role: Role, other: Role | undefined): boolean =>
  other === undefined || ROLES.indexOf(role) < ROLES.indexOf(other)

/** Kinds of actions in a tenant. */
const RIGHTS = ['read', 'change', 'delete', 'keys', 'team', 'billing', 'settings'] as const
export type Right = (typeof RIGHTS)[number]

/**
 * Who may open a page: members of the tenant with a right, admins of the installation, all operators, or
 * anyone.
 */
export type Access = Right | 'admin' | 'operator' | 'anyone'

/** Actions that each role allows. */
const HELD: Record<Role, readonly Right[]> = {
  owner: RIGHTS,
  member: ['read', 'change'],
  viewer: ['read'],
}

export const may = (role: Role, right: Right): boolean => HELD[role].includes(right)
