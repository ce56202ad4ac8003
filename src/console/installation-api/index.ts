import { Elysia } from 'elysia'
import { keyRoutes } from './keys.ts'
import { manifestRoutes } from './manifest.ts'
import { memberRoutes } from './members.ts'
import { operatorRoutes } from './operators.ts'
import type { InstallationApiParts } from './parts.ts'
import { tenantRoutes } from './tenants.ts'

/**
 * Tenants, their keys and members, and operators, for the keys of the installation. Each file has one noun,
 * below `/tenants/:tenant_id` if it is part of a tenant.
 */
export const createInstallationApi = (parts: InstallationApiParts) =>
  new Elysia({ prefix: '/v1/installation', tags: ['installation'] })
    .use(tenantRoutes(parts))
    .use(keyRoutes(parts))
    .use(manifestRoutes(parts))
    .use(memberRoutes(parts))
    .use(operatorRoutes(parts))
