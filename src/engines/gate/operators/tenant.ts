import { SYSTEM_TENANT_ID } from '../../../platform/system-tenant.ts'

/** Whether the users of a tenant are operators. Only those of the system tenant are. */
export const isOperatorTenant = (tenantId: string): boolean => tenantId === SYSTEM_TENANT_ID
