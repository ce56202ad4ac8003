/**
 * Object storage with the part of the API of S3 that Gatehouse uses: objects, conditional writes, copies,
 * uploads in parts and lists. It keeps everything in memory and checks the id of the key, but no signature.
 */
export const S3_KEY = { accessKeyId: 'test-key', secretAccessKey: 'test-secret', region: 'here' }

interface Stored {
  body: Uint8Array
  modifiedAt: Date
}

const NS = 'http://s3.amazonaws.com/doc/2006-03-01/'
const xml = (body: string, status = 200) =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?>${body}`, {
    status,
    headers: { 'content-type': 'application/xml' },
  })
const refusal = (status: number, code: string) => xml(`<Error><Code>${code}</Code></Error>`, status)

const etags = new WeakMap<Uint8Array, string>()
/** A list has the ETags of all objects in it, so each is computed once. */
function etagOf(body: Uint8Array): string {
  const etag = etags.get(body) ?? `"${new Bun.CryptoHasher('md5').update(body).digest('hex')}"`
  etags.set(body, etag)
  return etag
}

/**
 * Can answer a request in the server's place, or return nothing. `client` is the name that `envOf` was
 * given. `answer` carries out the request, for a response that is late or lost.
 */
export type Intercept = (
  request: Request,
  more: { client: string; answer: () => Promise<Response> },
) => Response | undefined | Promise<Response | undefined>

/** Starts a server with one bucket. `intercept` can be replaced later. */
export function startS3Server(options: { bucket?: string; intercept?: Intercept } = {}) {
  const { bucket = 'bucket' } = options
  const objects = new Map<string, Stored>()
  const uploads = new Map<string, Map<number, Uint8Array>>()
  let uploadCount = 0

  /** Conditions and object are one step: of those who race, one wins. */
  function store({ headers }: Request, key: string, body: Uint8Array): Response {
    const found = objects.get(key)
    const expected = headers.get('if-match')
    if (expected !== null && !found) return refusal(404, 'NoSuchKey')
    const isUnmet = expected !== null && found && expected !== etagOf(found.body)
    const isTaken = headers.get('if-none-match') === '*' && found
    if (isUnmet || isTaken) return refusal(412, 'PreconditionFailed')
    objects.set(key, { body, modifiedAt: new Date() })
    return new Response(null, { headers: { etag: etagOf(body) } })
  }

  async function put(request: Request, key: string): Promise<Response> {
    const source = request.headers.get('x-amz-copy-source')
    return source === null ? store(request, key, await request.bytes()) : copy(request, key, source)
  }

  function copy(request: Request, key: string, source: string): Response {
    const [, name = ''] = /^\/?[^/]+\/(.*)$/s.exec(decodeURIComponent(source)) ?? []
    const found = objects.get(name)
    if (!found) return refusal(404, 'NoSuchKey')
    const stored = store(request, key, found.body)
    if (!stored.ok) return stored
    return xml(
      `<CopyObjectResult xmlns="${NS}"><ETag>${etagOf(found.body)}</ETag><LastModified>${new Date().toISOString()}</LastModified></CopyObjectResult>`,
    )
  }

  async function removeAll(request: Request): Promise<Response> {
    const found = (await request.text()).matchAll(/<Key>(.*?)<\/Key>/gs)
    const names = Array.from(found, ([, key = '']) => key)
    for (const name of names) objects.delete(unescapeXml(name))
    const deleted = names.map((name) => `<Deleted><Key>${name}</Key></Deleted>`)
    return xml(`<DeleteResult xmlns="${NS}">${deleted.join('')}</DeleteResult>`)
  }

  async function putPart(request: Request, query: URLSearchParams): Promise<Response> {
    const parts = uploads.get(query.get('uploadId') ?? '')
    if (!parts) return refusal(404, 'NoSuchUpload')
    const body = await request.bytes()
    parts.set(Number(query.get('partNumber')), body)
    return new Response(null, { headers: { etag: etagOf(body) } })
  }

  function begin(key: string): Response {
    const id = `upload-${++uploadCount}`
    uploads.set(id, new Map())
    return xml(
      `<InitiateMultipartUploadResult xmlns="${NS}"><Bucket>${bucket}</Bucket><Key>${key}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    )
  }

  function complete(request: Request, key: string, id: string): Response {
    const parts = uploads.get(id)
    if (!parts) return refusal(404, 'NoSuchUpload')
    const inOrder = [...parts].toSorted(([a], [b]) => a - b).map(([, part]) => part)
    const body = Buffer.concat(inOrder)
    const stored = store(request, key, body)
    if (!stored.ok) return stored
    uploads.delete(id)
    return xml(
      `<CompleteMultipartUploadResult xmlns="${NS}"><Key>${key}</Key><ETag>${etagOf(body)}</ETag></CompleteMultipartUploadResult>`,
    )
  }

  /** One page, by name. With a delimiter, a folder is one entry. */
  function list(query: URLSearchParams): Response {
    const text = (name: string) => query.get(name) ?? ''
    const [prefix, delimiter] = [text('prefix'), text('delimiter')]
    const entryOf = (key: string) => {
      const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1
      return end < 0 ? key : key.slice(0, end + delimiter.length)
    }
    const isWanted = (key: string) => key.startsWith(prefix) && key > text('start-after')
    const last = Buffer.from(text('continuation-token'), 'base64').toString()
    const entries = [...new Set([...objects.keys()].filter(isWanted).map(entryOf))]
    const left = entries.filter((entry) => entry > last).toSorted()
    const page = left.slice(0, Math.min(Number(query.get('max-keys') ?? MAX_KEYS), MAX_KEYS))
    const token = Buffer.from(page.at(-1) ?? '').toString('base64')
    const isTruncated = page.length < left.length
    const next = isTruncated ? `<NextContinuationToken>${token}</NextContinuationToken>` : ''
    return xml(
      `<ListBucketResult xmlns="${NS}"><Name>${bucket}</Name><KeyCount>${page.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>${next}${page.map(describe).join('')}</ListBucketResult>`,
    )
  }

  function describe(entry: string): string {
    const [name, found] = [Bun.escapeHTML(entry), objects.get(entry)]
    if (!found) return `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`
    const { body, modifiedAt } = found
    return `<Contents><Key>${name}</Key><Size>${body.length}</Size><ETag>${etagOf(body)}</ETag><LastModified>${modifiedAt.toISOString()}</LastModified></Contents>`
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams: query } = new URL(request.url)
    const [, name, ...rest] = decodeURIComponent(pathname).split('/')
    const [key, { method }] = [rest.join('/'), request]
    if (clientOf(request) === undefined) return refusal(403, 'InvalidAccessKeyId')
    if (name !== bucket) return refusal(404, 'NoSuchBucket')
    if (key === '') return method === 'POST' ? removeAll(request) : list(query)
    const id = query.get('uploadId')
    if (method === 'POST') return id === null ? begin(key) : complete(request, key, id)
    if (method === 'PUT') return id === null ? put(request, key) : putPart(request, query)
    if (method === 'DELETE' && id !== null) {
      uploads.delete(id)
      return new Response(null, { status: 204 })
    }
    const found = objects.get(key)
    // Some storage deletes only what is there.
    if (!found) return refusal(404, 'NoSuchKey')
    if (method === 'DELETE') {
      objects.delete(key)
      return new Response(null, { status: 204 })
    }
    return new Response(Buffer.from(found.body), { headers: { etag: etagOf(found.body) } })
  }

  const server: Bun.Server<undefined> = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request): Promise<Response> {
      const more = { client: clientOf(request) ?? '', answer: () => answer(request) }
      return (await s3.intercept(request, more)) ?? answer(request)
    },
  })
  const endpoint = `http://127.0.0.1:${server.port}`
  /** Settings of Gatehouse for this server, as variables. Clients with a name can be told apart. */
  const envOf = (client: string) => ({
    GATEHOUSE_S3_ENDPOINT: endpoint,
    GATEHOUSE_S3_REGION: S3_KEY.region,
    GATEHOUSE_S3_ACCESS_KEY_ID: client ? `${S3_KEY.accessKeyId}.${client}` : S3_KEY.accessKeyId,
    GATEHOUSE_S3_SECRET_ACCESS_KEY: S3_KEY.secretAccessKey,
  })
  const s3 = {
    endpoint,
    settings: { ...S3_KEY, endpoint },
    env: envOf(''),
    envOf,
    objects,
    /** Uploads that were begun and neither completed nor aborted. */
    uploads,
    intercept: options.intercept ?? (((): undefined => undefined) as Intercept),
    [Symbol.dispose]: () => void server.stop(true),
  }
  return s3
}

const MAX_KEYS = 1000

/** The name of a client: what follows the id of the key, or ''. Undefined with another key. */
function clientOf({ headers, url }: Request): string | undefined {
  const signed = headers.get('authorization') ?? decodeURIComponent(new URL(url).search)
  const [, id, client = ''] = /Credential=([\w-]+)(?:\.([\w-]+))?\//.exec(signed) ?? []
  return id === S3_KEY.accessKeyId ? client : undefined
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const unescapeXml = (text: string) => text.replace(/&(\w+);/g, (all, name) => ENTITIES[name] ?? all)
