/**
 * Object storage with the part of the API of S3 that Gatehouse uses: objects, uploads in parts and
 * lists. It keeps everything in memory and checks the id of the key, but no signature.
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
const etagOf = (body: Uint8Array) => `"${new Bun.CryptoHasher('md5').update(body).digest('hex')}"`

/** Starts a server with one bucket. `intercept` can answer a request in its place. */
export function startS3Server(
  options: { bucket?: string; intercept?: (request: Request) => Response | undefined } = {},
) {
  const { bucket = 'bucket', intercept = () => undefined } = options
  const objects = new Map<string, Stored>()
  const uploads = new Map<string, Map<number, Uint8Array>>()
  let uploadCount = 0

  async function put(request: Request, key: string): Promise<Response> {
    const body = await request.bytes()
    objects.set(key, { body, modifiedAt: new Date() })
    return new Response(null, { headers: { etag: etagOf(body) } })
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

  function complete(key: string, id: string): Response {
    const parts = uploads.get(id)
    if (!parts) return refusal(404, 'NoSuchUpload')
    uploads.delete(id)
    const inOrder = [...parts].toSorted(([a], [b]) => a - b).map(([, part]) => part)
    const body = Buffer.concat(inOrder)
    objects.set(key, { body, modifiedAt: new Date() })
    return xml(
      `<CompleteMultipartUploadResult xmlns="${NS}"><Key>${key}</Key><ETag>${etagOf(body)}</ETag></CompleteMultipartUploadResult>`,
    )
  }

  function list(prefix: string, delimiter: string | null): Response {
    const isShown = (key: string) =>
      key.startsWith(prefix) && (!delimiter || !key.slice(prefix.length).includes(delimiter))
    const found = [...objects].filter(([key]) => isShown(key)).toSorted()
    const contents = found.map(
      ([key, { body, modifiedAt }]) =>
        `<Contents><Key>${key}</Key><Size>${body.length}</Size><ETag>${etagOf(body)}</ETag><LastModified>${modifiedAt.toISOString()}</LastModified></Contents>`,
    )
    return xml(
      `<ListBucketResult xmlns="${NS}"><Name>${bucket}</Name><KeyCount>${found.length}</KeyCount><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`,
    )
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams: query } = new URL(request.url)
    const [, name, ...rest] = decodeURIComponent(pathname).split('/')
    const [key, { method }] = [rest.join('/'), request]
    if (!request.headers.get('authorization')?.includes(`Credential=${S3_KEY.accessKeyId}/`))
      return refusal(403, 'InvalidAccessKeyId')
    if (name !== bucket) return refusal(404, 'NoSuchBucket')
    if (key === '') return list(query.get('prefix') ?? '', query.get('delimiter'))
    const id = query.get('uploadId')
    if (method === 'POST') return id === null ? begin(key) : complete(key, id)
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

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => intercept(request) ?? answer(request),
  })
  const endpoint = `http://127.0.0.1:${server.port}`
  return {
    endpoint,
    settings: { ...S3_KEY, endpoint },
    /** Settings of Gatehouse for this server, as variables. */
    env: {
      GATEHOUSE_S3_ENDPOINT: endpoint,
      GATEHOUSE_S3_REGION: S3_KEY.region,
      GATEHOUSE_S3_ACCESS_KEY_ID: S3_KEY.accessKeyId,
      GATEHOUSE_S3_SECRET_ACCESS_KEY: S3_KEY.secretAccessKey,
    },
    objects,
    /** Uploads that were begun and neither completed nor aborted. */
    uploads,
    [Symbol.dispose]: () => void server.stop(true),
  }
}
