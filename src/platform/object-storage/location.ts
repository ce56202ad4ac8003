import { invalid } from '../errors.ts'

/** A bucket and a key in it, or the start of keys. */
export interface ObjectLocation {
  bucket: string
  key: string
}

const URL_OF_OBJECT = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(\P{Cc}*))?$/u

/** What HTTP clients resolve or drop, so that the name would be another one. */
const RELATIVE = /(?:^|\/)\.{0,2}\/|(?:^|\/)\.{1,2}$/

/** Whether a name is in object storage, not on a disk. */
export const isObjectUrl = (name: string): boolean => name.startsWith('s3://')

/** Parses `s3://bucket/key`. Throws `invalid` for anything else. */
export function parseObjectUrl(url: string): ObjectLocation {
  const [, bucket, key = ''] = URL_OF_OBJECT.exec(url) ?? []
  if (bucket === undefined || RELATIVE.test(key))
    throw invalid(`${url} is not a location in object storage. Use s3://BUCKET/PREFIX`, {
      rule: 'format',
    })
  return { bucket, key }
}

/** The URL of a key below another one. */
export const objectUrlIn = (folder: string, name: string): string =>
  `${folder.replace(/\/+$/, '')}/${name}`

/** Whether a URL is that of an object in a folder, whose URL ends with a slash, and not below it. */
export const isNameIn = (folder: string, url: string): boolean =>
  url.startsWith(folder) && /^[^/]+$/.test(url.slice(folder.length))
