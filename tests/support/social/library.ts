/** It warns of every runtime that is not Node.js, on which it works all the same. */
export const { Provider, interactionPolicy } = await quietly(() => import('oidc-provider'))

async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const { warn } = console
  console.warn = () => {}
  try {
    return await work()
  } finally {
    console.warn = warn
  }
}
