import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { createReadCache } from '../read-cache.ts'
import type { Tenants } from '../tenants.ts'
import { logoPath } from './addresses.ts'
import { type BrandingInput, checkedBranding, displayNameFrom } from './checks.ts'
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

/** Images of logos; undefined keeps one, null deletes it. */
export type LogoFiles = Partial<Record<LogoTheme, Uint8Array | null | undefined>>

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
    const stored = store.logos(tenantId)
    const times = [row, ...stored].flatMap(({ updatedAt }) => updatedAt ?? [])
    const logos = stored.map(({ theme, updatedAt: _, ...logo }) => {
      const path = logoPath(tenantId, logo.hash)
      return [theme, { ...logo, path }]
    })
    return {
      ...row,
      logos: Object.fromEntries(logos),
      updatedAt: times.length > 0 ? Math.max(...times) : null,
    }
  }

  /** The name that users of a tenant see. */
  const nameOf = (tenantId: string): string =>
    of(tenantId).displayName ?? displayNameFrom(tenants.nameOf(tenantId))

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

  /** Stores the given logos; null deletes one. Throws `invalid` unless they are small images. */
  function setLogos(actor: Actor, tenantId: string, logos: LogoFiles): Promise<BrandingSettings> {
    const changes = LOGO_THEMES.flatMap((theme) => {
      const bytes = logos[theme]
      if (bytes === undefined) return []
      return { theme, bytes, image: bytes && checkedImage(bytes, theme) }
    })
    const detail = Object.fromEntries(changes.map(({ theme, image }) => [theme, image]))
    return commit(actor, tenantId, 'branding.logos_changed', detail, (updatedAt) => {
      for (const { theme, bytes, image } of changes)
        if (bytes === null || image === null) store.removeLogo(tenantId, theme)
        else {
          const content = { hash: imageHash(bytes), data: bytes.toBase64() }
          store.putLogo({ ...image, ...content, tenantId, theme, updatedAt })
        }
    })
  }

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

  return { of, nameOf, preview, change, setLogos, imageOf }
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
