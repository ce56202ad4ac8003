import type { Page } from '../../page.tsx'
import { firstJobPage } from './first-job.tsx'
import { firstKeyPage } from './first-key.tsx'
import { welcomePage } from './welcome.tsx'

export const setUpPages: readonly Page[] = [welcomePage, firstKeyPage, firstJobPage]
