import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { fail, notFound } from '../errors.ts'
import { createReadCache } from '../read-cache.ts'
import type { Tenants } from '../tenants.ts'
import { logoPath } from './addresses.ts'
import { type BrandingInput, checkedBranding } from './checks.ts'
import { checkedImage, type ImageType, imageHash } from './image.ts'
import { type BrandingRow, createBrandingStore, type LogoTheme } from './store.ts'

export type { BrandingInput } from './checks.ts'
export type { LogoTheme } from './store.ts'

/** A logo without its image. */
export interface Logo {
  type: ImageType
  /** In pixels. */
  width: number
  height: number
  /** SHA-256 of the image, hexadecimal. */
  hash: string
  /** Path of the image. */
  path: string
}

/** What a tenant shows to its users; null where Gatehouse's own look applies. */
export interface BrandingSettings extends Omit<BrandingRow, 'tenantId' | 'updatedAt'> {
  logos: Partial<Record<LogoTheme, Logo>>
  updatedAt: number | null
}

/** The image of a logo. */
export interface LogoImage {
  type: ImageType
  bytes: Uint8Array<ArrayBuffer>
}

export const LOGO_THEMES = ['light', 'dark'] as const

const REMEMBERED_TENANTS = 1000

export type Branding = ReturnType<typeof createBranding>

/** Branding of tenants, cached until it changes. Each change is recorded in the audit log. */
export function createBranding(parts: {
  db: Db
  clock: Clock
  audit: Audit
  tenants: Pick<Tenants, 'nameOf'>
}) {
  const { db, clock, audit, tenants } = parts
  const store = createBrandingStore(db)
  const known = createReadCache<BrandingSettings>(db, REMEMBERED_TENANTS)

  const of = (tenantId: string): BrandingSettings =>
    known.get(tenantId) ?? known.set(tenantId, read(tenantId))

  function read(tenantId: string): BrandingSettings {
    const { tenantId: _, ...row } = store.find(tenantId) ?? NONE
    const logos = store
      .logos(tenantId)
      .map(({ theme, ...logo }) => [theme, { ...logo, path: logoPath(tenantId, logo.hash) }])
    return { ...row, logos: Object.fromEntries(logos) }
  }

  /** The name that users of a tenant see. */
  const nameOf = (tenantId: string): string => of(tenantId).displayName ?? tenants.nameOf(tenantId)

  /** Changes the given fields. Throws `invalid` with all their problems. */
  function change(actor: Actor, tenantId: string, input: BrandingInput) {
    const changes = checkedBranding(input)
    return commit(actor, tenantId, 'branding.changed', changes, (updatedAt) =>
      store.put({ ...changed(store.find(tenantId) ?? NONE, changes), tenantId, updatedAt }),
    )
  }

  /** The branding as `change` would make it, without storing it. Throws like `change`. */
  const preview = (tenantId: string, input: BrandingInput): BrandingSettings =>
    changed(of(tenantId), checkedBranding(input))

  /** Stores a logo. Throws `invalid` unless it is a small PNG, JPEG or WebP image. */
  function setLogo(actor: Actor, tenantId: string, theme: LogoTheme, bytes: Uint8Array) {
    const image = checkedImage(bytes, 'image')
    const detail = { theme, ...image, bytes: bytes.byteLength }
    return commit(actor, tenantId, 'branding.logo_changed', detail, (updatedAt) =>
      store.putLogo({
        ...image,
        tenantId,
        theme,
        hash: imageHash(bytes),
        data: bytes.toBase64(),
        updatedAt,
      }),
    )
  }

  /** Throws `not_found` if there is no such logo. */
  const removeLogo = (actor: Actor, tenantId: string, theme: LogoTheme) =>
    commit(actor, tenantId, 'branding.logo_removed', { theme }, () => {
      if (!store.removeLogo(tenantId, theme)) fail(notFound('logo not found'))
    })

  /** Makes a change in one commit with its audit entry, and returns the branding after it. */
  const commit = (
    actor: Actor,
    tenantId: string,
    action: string,
    detail: object,
    write: (now: number) => void,
  ): Promise<BrandingSettings> =>
    db.commitFor(tenantId, () => {
      write(clock.now())
      known.forget()
      audit.record({ tenantId, actor, action, object: `tenant:${tenantId}`, detail: { ...detail } })
      return read(tenantId)
    })

  function imageOf(tenantId: string, hash: string): LogoImage | undefined {
    const image = store.image(tenantId, hash)
    return image && { type: image.type, bytes: Uint8Array.fromBase64(image.data) }
  }

  return { of, nameOf, preview, change, setLogo, removeLogo, imageOf }
}

const NONE = {
  tenantId: '',
  displayName: null,
  accent: null,
  supportUrl: null,
  termsUrl: null,
  privacyUrl: null,
  senderName: null,
  updatedAt: null,
}

const changed = <T extends Omit<BrandingRow, 'tenantId' | 'updatedAt'>>(
  row: T,
  changes: BrandingInput,
): T => ({
  ...row,
  displayName: kept(changes.display_name, row.displayName),
  accent: kept(changes.accent_color, row.accent),
  supportUrl: kept(changes.support_url, row.supportUrl),
  termsUrl: kept(changes.terms_url, row.termsUrl),
  privacyUrl: kept(changes.privacy_url, row.privacyUrl),
  senderName: kept(changes.sender_name, row.senderName),
})

/** The new value, or the old one if none was given. */
const kept = (given: string | null | undefined, old: string | null): string | null =>
  given === undefined ? old : given
