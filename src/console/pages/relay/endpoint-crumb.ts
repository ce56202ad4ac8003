import { withoutScheme } from '../../../../views/console/words.ts'
import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'

/** Breadcrumb of an endpoint. */
export const endpointCrumb = (base: string, { id, url }: Pick<Endpoint, 'id' | 'url'>) => ({
  label: withoutScheme(url),
  href: `${base}/console/endpoints/${id}`,
})
