import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { excludedOf, rowOf } from '../../db/placeholders.ts'
import { branding, brandingLogos } from '../schema.ts'

export type BrandingRow = typeof branding.$inferSelect
export type LogoRow = typeof brandingLogos.$inferSelect
export type LogoTheme = LogoRow['theme']

/** All SQL on branding. */
export function createBrandingStore({ orm }: Db) {
  const $ = sql.placeholder
  const ofTenant = eq(brandingLogos.tenantId, $('tenantId'))
  const { theme, type, width, height, hash, updatedAt } = brandingLogos
  const put = orm
    .insert(branding)
    .values(rowOf(branding))
    .onConflictDoUpdate({ target: branding.tenantId, set: excludedOf(branding, 'tenantId') })
    .prepare()
  const find = orm
    .select()
    .from(branding)
    .where(eq(branding.tenantId, $('tenantId')))
    .prepare()
  const putLogo = orm
    .insert(brandingLogos)
    .values(rowOf(brandingLogos))
    .onConflictDoUpdate({
      target: [brandingLogos.tenantId, brandingLogos.theme],
      set: excludedOf(brandingLogos, 'tenantId', 'theme'),
    })
    .prepare()
  const logos = orm
    .select({ theme, type, width, height, hash, updatedAt })
    .from(brandingLogos)
    .where(ofTenant)
    .prepare()
  const image = orm
    .select({ type: brandingLogos.type, data: brandingLogos.data })
    .from(brandingLogos)
    .where(and(ofTenant, eq(brandingLogos.hash, $('hash'))))
    .prepare()
  const removeLogo = orm
    .delete(brandingLogos)
    .where(and(ofTenant, eq(brandingLogos.theme, $('theme'))))
    .prepare()

  return {
    put: (row: BrandingRow) => void put.run({ ...row }),
    find: (tenantId: string): BrandingRow | undefined => find.get({ tenantId }),
    putLogo: (row: LogoRow) => void putLogo.run({ ...row }),
    logos: (tenantId: string) => logos.all({ tenantId }),
    image: (tenantId: string, hash: string) => image.get({ tenantId, hash }),
    removeLogo: (tenantId: string, theme: LogoTheme) => void removeLogo.run({ tenantId, theme }),
  }
}
