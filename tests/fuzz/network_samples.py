"""A platform of SimGrid, a network of SNDlib, and outages, all of our own."""

from __future__ import annotations

PLATFORM = b"""\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="w" routing="Full">
<zone id="one" routing="Full">
<host id="a" speed="1Gf" core="2"/><host id="b" speed="500Mf,250Mf" pstate="1"/><router id="r"/>
<link id="la" bandwidth="125MBps" latency="50us"/><link id="lb" bandwidth="1Gbps" sharing_policy="SPLITDUPLEX"/>
<route src="a" dst="r"><link_ctn id="la"/></route><route src="b" dst="r"><link_ctn id="lb"/></route>
<route src="a" dst="b"><link_ctn id="la"/><link_ctn id="lb"/></route>
</zone>
<cluster id="c" prefix="n" suffix="" radical="5-5" speed="1Gf" bw="1MBps" lat="1ms" bb_bw="4MBps" bb_lat="2ms"/>
<zone id="k" routing="Cluster">
<host id="h" speed="1Gf"/><link id="hu" bandwidth="1MBps"/><link id="hd" bandwidth="8Mbps"/><router id="s"/>
<host_link id="h" up="hu" down="hd"/><backbone id="bb" bandwidth="1GBps" latency="1us"/>
</zone>
<link id="in" bandwidth="1MBps" latency="1ms"/><link id="out" bandwidth="8Mbps" latency="1ms"/>
<zoneRoute src="one" dst="k" gw_src="r" gw_dst="s" symmetrical="NO"><link_ctn id="in"/></zoneRoute>
<zoneRoute src="k" dst="one" gw_src="s" gw_dst="r" symmetrical="NO"><link_ctn id="out"/></zoneRoute>
<link id="up" bandwidth="2MiBps" latency="3ms"/>
<zoneRoute src="one" dst="c" gw_src="r" gw_dst="nc_router"><link_ctn id="up"/></zoneRoute>
</zone>
</platform>
"""
SNDLIB = b"""\
?SNDlib native format; type: network; version: 1.0
META (
  unit = MBITPERSEC
)
NODES (
  n0 ( 1.0 2.0 )
  n1 ( 1.5 2.0 )
  n2 ( 1.0 3.0 )
  n3 ( -1 0 )
)
LINKS (
  l0 ( n0 n1 ) 40.00 0.00 0.00 0.00 ( 155.00 25.00 )
  l1 ( n1 n2 ) 0.00 0.00 0.00 0.00 ( 155.00 25.00 622.00 60.00 )
  l2 ( n2 n3 ) 0 0 0 0 ( )
)
DEMANDS (
  d ( n0 n1 ) 1 1.00 UNLIMITED
)
"""
OUTAGES = b"node,down_s,up_s\n0,0.5,1\n1,0.25,\n2,1,2\n2,1.5,3\n"
RECORDED = b"""\
System,nodenum,Prob Started (mm/dd/yy hh:mm),Prob Fixed (mm/dd/yy hh:mm),Down Time
20,10,06/21/03 10:54,06/21/2003 11:00,6
20,9,06/21/03 10:55,,7
2,3,06/20/03 10:55,06/20/03 10:56,1
"""
EVENTS = b"# id\n1\t1\t7\t0\tn7\t0\t1000000100.5\t1000000200\tNULL\n2\t1\t30\t0\tn30\t0\t1000000050\t1000000060\tNULL\n"
