import { expect, test } from 'bun:test'
import { S3mini } from 's3mini'
import { startS3Server } from './s3-server.ts'

test('Of conditional writes that race, one wins; others learn why not', async () => {
  using s3 = startS3Server()
  const client = new Bun.S3Client({ ...s3.settings, bucket: 'bucket' })
  async function put(key: string, headers: Record<string, string>) {
    const url = client.presign(key, { method: 'PUT' })
    const response = await fetch(url, { method: 'PUT', headers, body: crypto.randomUUID() })
    const [, code] = /<Code>(\w+)</.exec(await response.text()) ?? []
    return { outcome: code ?? response.status, etag: response.headers.get('etag') ?? '' }
  }
  const race = async (headers: Record<string, string>) => {
    const all = await Promise.all(Array.from({ length: 8 }, () => put('lease', headers)))
    expect(all.map(({ outcome }) => outcome).filter((outcome) => outcome !== 200)).toEqual(
      Array(7).fill('PreconditionFailed'),
    )
    return all.find(({ outcome }) => outcome === 200)?.etag ?? ''
  }
  const etag = await race({ 'if-none-match': '*' })
  expect(await race({ 'if-match': etag })).not.toBe(etag)
  expect((await put('absent', { 'if-match': etag })).outcome).toBe('NoSuchKey')
})

test('Lists have pages and folders; objects are copied, and several deleted at once', async () => {
  using s3 = startS3Server()
  const client = new S3mini({ ...s3.settings, endpoint: `${s3.endpoint}/bucket` })
  for (const key of ['a/1', 'a/2', 'a/3', 'a/b/4', 'c&d']) await client.putObject(key, key)
  const page = await client.listObjectsPaged('/', 'a/', 3)
  const next = await client.listObjectsPaged('/', 'a/', 3, page?.nextContinuationToken)
  const keys = [page, next].map((one) => one?.objects?.map(({ Key }) => Key))
  expect(keys).toEqual([['a/1', 'a/2', 'a/3'], ['a/b/4']])
  expect(next?.nextContinuationToken).toBeUndefined()
  const raw = new Bun.S3Client({ ...s3.settings, bucket: 'bucket' })
  const listed = await raw.list({ prefix: 'a/', delimiter: '/', startAfter: 'a/2' })
  expect(listed.contents?.map(({ key }) => key)).toEqual(['a/3'])
  expect(listed.commonPrefixes).toEqual([{ prefix: 'a/b/' }])

  await client.copyObject('a/1', 'copy')
  expect(await client.getObject('copy')).toBe('a/1')
  expect(await client.deleteObjects(['a/1', 'c&d'])).toEqual([true, true])
  expect([...s3.objects.keys()]).toEqual(['a/2', 'a/3', 'a/b/4', 'copy'])
})

test('A client can be cut off, and the response to a request that was carried out be lost', async () => {
  using s3 = startS3Server()
  const clientOf = (name: string) => {
    const { GATEHOUSE_S3_ACCESS_KEY_ID: accessKeyId } = s3.envOf(name)
    return new Bun.S3Client({ ...s3.settings, accessKeyId, bucket: 'bucket', retry: 0 })
  }
  const lost = new Response(null, { status: 503 })
  s3.intercept = async (_request, { client, answer }) => {
    if (client === 'b') return lost
    await answer()
    return lost
  }
  await expect(clientOf('b').write('b', 'x')).rejects.toThrow()
  await expect(clientOf('a').write('a', 'x')).rejects.toThrow()
  expect([...s3.objects.keys()]).toEqual(['a'])
})
