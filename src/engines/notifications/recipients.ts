/** The operators who may be notified by email: active ones, at addresses that they have verified. */
export interface Recipients {
  /** Owners of a tenant; admins of the installation for null. */
  ownersOf: (tenantId: string | null) => string[]
  /** Members of a tenant; admins of the installation for null. */
  membersOf: (tenantId: string | null) => string[]
}
