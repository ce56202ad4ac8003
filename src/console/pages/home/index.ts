import type { Page } from '../../page.tsx'
import { installationOverviewPage } from './installation.tsx'
import { overviewPage } from './overview.tsx'
import { startPage } from './start.tsx'

export const homePages: readonly Page[] = [overviewPage, installationOverviewPage, startPage]
