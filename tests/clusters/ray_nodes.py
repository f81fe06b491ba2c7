"""Two nodes of a Ray cluster on this machine, until standard input ends; prints the address first."""

import sys

LIGHT = {"num_cpus": 2, "object_store_memory": 100 << 20}

if __name__ == "__main__":
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args=LIGHT | {"include_dashboard": False})
    try:
        cluster.add_node(**LIGHT)
        sys.stdout.write(f"{cluster.address}\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        cluster.shutdown()
