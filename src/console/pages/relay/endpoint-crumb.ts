import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'

/** The way back from what belongs to an endpoint. */
export const endpointCrumb = (base: string, { id, url }: Pick<Endpoint, 'id' | 'url'>) => ({
  label: url,
  href: `${base}/console/endpoints/${id}`,
})
