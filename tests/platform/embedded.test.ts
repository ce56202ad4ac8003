import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { packed, requireAscii } from '../../scripts/smaller.ts'
import { readEmbedded } from '../../src/platform/embedded.ts'
import { temporaryFolder } from '../support/folder.ts'

test('An embedded file has the same content, compressed by the build or not', async () => {
  using folder = temporaryFolder()
  const content = '["hunter22", "пароль12"]'
  const [plain, compressed] = [join(folder.path, 'plain'), join(folder.path, 'compressed')]
  await Bun.write(plain, content)
  await Bun.write(compressed, Buffer.from(packed(content), 'base64'))
  for (const path of [plain, compressed])
    expect(new TextDecoder().decode(readEmbedded(path))).toBe(content)
})

test('The build fails for a source with a letter beyond ASCII, and names its line', async () => {
  const source = (text: string, loader: Bun.Loader = 'js') =>
    ({ loader, text: async () => text }) as Bun.BuildArtifact
  await requireAscii([source('plain\ntext'), source('ä', 'file')])
  await expect(requireAscii([source('one\nHéctor\nthree')])).rejects.toThrow(': Héctor')
})
