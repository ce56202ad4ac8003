import type { Branding } from '../branding/index.ts'

/** The id by which the HTML of a mail refers to a logo that is attached when it is sent. */
export const contentIdOf = (hash: string): string => `${hash}@logo`

const REFERENCES = /"cid:([0-9a-f]{64})@logo"/g

/**
 * The logos in the HTML of a mail, as attachments: mail programs show them without loading anything,
 * and they need no address on the internet. A logo that was deleted since is left out.
 */
export function attachedLogos(
  branding: Pick<Branding, 'imageOf'>,
  tenantId: string | null,
  html: string,
) {
  if (tenantId === null) return []
  const hashes = new Set([...html.matchAll(REFERENCES)].map(([, hash = '']) => hash))
  return [...hashes].flatMap((hash) => {
    const image = branding.imageOf(tenantId, hash)
    if (!image) return []
    const { type, bytes } = image
    return {
      cid: contentIdOf(hash),
      contentType: type,
      contentDisposition: 'inline' as const,
      filename: `logo.${type.replace('image/', '')}`,
      content: Buffer.from(bytes),
    }
  })
}
